"""The graph: sums of words over nodes, and loops."""

from ._build import Rewriting as Rewriting, build as build
from ._evaluate import evaluate_graph as evaluate_graph
from ._graph import Graph as Graph, Loop as Loop, Node as Node
from ._words import Atom as Atom, Ref as Ref, Sum as Sum, Word as Word, is_constant as is_constant, total as total
