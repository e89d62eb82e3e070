"""The special tokens of every vocabulary of the course, and their ids."""

SPECIALS = ("<pad>", "<sos>", "<eos>", "<unk>")
PAD, SOS, EOS, UNK = range(len(SPECIALS))
MASK = "<mask>"  # hides a word from BERT
NOT_ASKED = -100  # a target that no loss counts
