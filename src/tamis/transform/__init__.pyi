# Written by `make docs` from what is found in the room.

from tamis.transform.bigrams import Bigrams as Bigrams
from tamis.transform.encode import Encode as Encode
from tamis.transform.ica import ICA as ICA
from tamis.transform.impute import Impute as Impute
from tamis.transform.lsi import LSI as LSI
from tamis.transform.normalize import Normalize as Normalize
from tamis.transform.pca import PCA as PCA
from tamis.transform.random_projection import RandomProjection as RandomProjection
from tamis.transform.rms_norm import RMSNorm as RMSNorm
from tamis.transform.standardize import Standardize as Standardize
from tamis.transform.tfidf import Tfidf as Tfidf
from tamis.transform.vdm import VDM as VDM
from tamis.transform.words import Words as Words
