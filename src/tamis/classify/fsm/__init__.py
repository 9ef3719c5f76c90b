"""Feature Space Mapping: nodes of separable functions, one a cluster, that are read as rules."""

from tamis.classify.fsm.fsm import FSM as FSM
