"""Helpers around modules and their data: packed sequences (`rnn`), parameters as one vector."""

from ts.nn.utils import rnn as rnn
from ts.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
from ts.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
