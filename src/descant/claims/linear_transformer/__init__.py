"""The claims of Vladymyrov et al. 2024, one module each; every module here is found by itself."""

from ._table1 import FULL_LAWS as FULL_LAWS, LAWS as LAWS, PAPER as PAPER, Entry as Entry, table_1 as table_1
