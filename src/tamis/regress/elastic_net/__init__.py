"""Elastic net: least squares with a penalty on the absolute and the squared weights."""

from tamis.regress.elastic_net.elastic_net import ElasticNet as ElasticNet
