"""The commands of ``seqcourse``. Heavy imports stand inside them, so that ``--help`` is quick."""
