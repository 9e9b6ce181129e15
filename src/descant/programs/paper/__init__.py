"""The paper's own constructions, by hand: primitives, and ridge regression in its two forms."""

from ._primitives import (
    Condition as Condition,
    Part as Part,
    Primitive as Primitive,
    constant as constant,
    mask_and_move as mask_and_move,
    product_ab as product_ab,
    product_abt as product_abt,
    product_abtc as product_abtc,
    product_atb as product_atb,
    skip as skip,
    times as times,
    transpose as transpose,
)
from ._ridge import (
    RidgeByHand as RidgeByHand,
    output_module as output_module,
    ridge_as_elsa as ridge_as_elsa,
    ridge_as_lsa as ridge_as_lsa,
)
