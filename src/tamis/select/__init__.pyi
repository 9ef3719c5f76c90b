# Written by `make docs` from what is found in the room.

from tamis.select.best_first import BestFirst as BestFirst
from tamis.select.cluster_tree.cluster_tree import ClusterTree as ClusterTree
from tamis.select.contrasts.contrasts import Contrasts as Contrasts
from tamis.select.focus import Focus as Focus
from tamis.select.fortal import Fortal as Fortal
from tamis.select.from_model import FromModel as FromModel
from tamis.select.genetic import Genetic as Genetic
from tamis.select.importance.importance import Importance as Importance
from tamis.select.lvf import LVF as LVF
from tamis.select.mrmr.mrmr import MRMR as MRMR
from tamis.select.nested_partitions.nested_partitions import NestedPartitions as NestedPartitions
from tamis.select.pta import PTA as PTA
from tamis.select.random_wrapper import RandomWrapper as RandomWrapper
from tamis.select.ranking import Ranking as Ranking
from tamis.select.repeat import Repeat as Repeat
from tamis.select.rfe import RFE as RFE
from tamis.select.sbfs import SBFS as SBFS
from tamis.select.sbs import SBS as SBS
from tamis.select.sffs import SFFS as SFFS
from tamis.select.sfs import SFS as SFS
from tamis.select.ssv_tree import SSVTreeSelector as SSVTreeSelector
from tamis.select.stability_selection import StabilitySelection as StabilitySelection
from tamis.select.stepwise import Stepwise as Stepwise
from tamis.select.vote import Vote as Vote
from tamis.select.with_probes import WithProbes as WithProbes
from tamis.select.wrapper import Wrapper as Wrapper
