"""The attention layers of the papers, in token space and in moment space."""

from .. import _precision as _precision
from ._axial import Axial as Axial
from ._constructions import (
    gd_as_lsa as gd_as_lsa,
    gd_as_transformer as gd_as_transformer,
    gd_as_yq_lsa as gd_as_yq_lsa,
    gd_beta_as_elsa as gd_beta_as_elsa,
    gd_beta_as_ltb as gd_beta_as_ltb,
    gd_beta_as_yq_lsa as gd_beta_as_yq_lsa,
    gd_plus_plus_as_transformer as gd_plus_plus_as_transformer,
    gram_affine_as_lsa as gram_affine_as_lsa,
    two_noise_network as two_noise_network,
)
from ._conventions import (
    from_kqvp as from_kqvp,
    from_pq as from_pq,
    from_vq as from_vq,
    lsa_as_transformer as lsa_as_transformer,
    to_kqvp as to_kqvp,
    to_pq as to_pq,
    to_vq as to_vq,
    transformer_as_lsa as transformer_as_lsa,
    with_normalization as with_normalization,
)
from ._diag import Diag as Diag
from ._diagonal import AbstractDiagonal as AbstractDiagonal
from ._elsa import ELSA as ELSA, ELSABlock as ELSABlock, ELSAPredictor as ELSAPredictor, Repeated as Repeated
from ._free_diag import FreeDiag as FreeDiag
from ._full import Full as Full, as_full as as_full
from ._gd_plus_plus import GDPlusPlusTransformer as GDPlusPlusTransformer
from ._guess import (
    AbstractGuess as AbstractGuess,
    ConstantGuess as ConstantGuess,
    GivenGuess as GivenGuess,
    LinearGuess as LinearGuess,
    NoGuess as NoGuess,
)
from ._kind import (
    NEUTRAL as NEUTRAL,
    Kind as Kind,
    Prepared as Prepared,
    kind_of as kind_of,
    random_start as random_start,
)
from ._kinds import KINDS as KINDS, Named as Named, discover as _discover, make_model as make_model
from ._layer_states import LayerStates as LayerStates, layer_states as layer_states
from ._levels import (
    MOST_STARTS as MOST_STARTS,
    RANDOM_STARTS as RANDOM_STARTS,
    Level as Level,
    deepened as deepened,
    plan as plan,
)
from ._linear_transformer import AbstractLinearTransformer as AbstractLinearTransformer
from ._lsa import LSA as LSA
from ._ltb import LTB as LTB
from ._merged_ltb import MergedLTB as MergedLTB
from ._rescaled import rescaled as rescaled
from ._saving import check_saving as check_saving, load as load, save as save, to_bytes as to_bytes
from ._softmax import SoftmaxTransformer as SoftmaxTransformer
from ._torch import to_torch as to_torch

_discover(__name__, __path__)
