# Written by `make docs` from what is found in the room.

from tamis.regress.bayes_net import BayesNetRegressor as BayesNetRegressor
from tamis.regress.blasso import BLassoRegressor as BLassoRegressor
from tamis.regress.blend import BlendRegressor as BlendRegressor
from tamis.regress.boost import BoostRegressor as BoostRegressor
from tamis.regress.committee import CommitteeRegressor as CommitteeRegressor
from tamis.regress.elastic_net.elastic_net import ElasticNet as ElasticNet
from tamis.regress.extra_trees import ExtraTreesRegressor as ExtraTreesRegressor
from tamis.regress.forest import ForestRegressor as ForestRegressor
from tamis.regress.knn import KNNRegressor as KNNRegressor
from tamis.regress.lasso import Lasso as Lasso
from tamis.regress.mlp import MLPRegressor as MLPRegressor
from tamis.regress.ridge.ridge import Ridge as Ridge
from tamis.regress.svr import SVR as SVR
from tamis.regress.tree import TreeRegressor as TreeRegressor
