# Written by `make docs` from what is found in the room.

from tamis.classify.bayes_logistic.bayes_logistic import BayesLogistic as BayesLogistic
from tamis.classify.bayes_net import BayesNet as BayesNet
from tamis.classify.blasso import BLasso as BLasso
from tamis.classify.blend import Blend as Blend
from tamis.classify.boost import Boost as Boost
from tamis.classify.c45.c45 import C45 as C45
from tamis.classify.centroid import Centroid as Centroid
from tamis.classify.committee import Committee as Committee
from tamis.classify.convex_net.convex_net import ConvexNet as ConvexNet
from tamis.classify.diffusion_tree.diffusion_tree import DiffusionTree as DiffusionTree
from tamis.classify.esnb.esnb import ESNB as ESNB
from tamis.classify.extra_trees import ExtraTrees as ExtraTrees
from tamis.classify.forest import Forest as Forest
from tamis.classify.fr_svm.fr_svm import FRSVM as FRSVM
from tamis.classify.knn import KNN as KNN
from tamis.classify.lda import LDA as LDA
from tamis.classify.logistic import Logistic as Logistic
from tamis.classify.mdl_histogram.mdl_histogram import MDLHistogram as MDLHistogram
from tamis.classify.mlp import MLP as MLP
from tamis.classify.nb import NaiveBayes as NaiveBayes
from tamis.classify.nrbf.nrbf import NRBF as NRBF
from tamis.classify.probit.probit import Probit as Probit
from tamis.classify.rlsc.rlsc import RLSC as RLSC
from tamis.classify.snb import SNB as SNB
from tamis.classify.svm.svm import SVM as SVM
from tamis.classify.tree import SSVTree as SSVTree
