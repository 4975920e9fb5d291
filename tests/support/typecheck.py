"""How tests check the types at every door: with beartype, an int being welcome as a float."""

from beartype import BeartypeConf, beartype

typechecked = beartype(conf=BeartypeConf(is_pep484_tower=True))
