"""A student's own trained model as one page that runs anywhere, and their own parts as one file.

``system``    their classes, functions and checkpoint, out of the notebook
``contract``  what a page calls: `logits` and `words`, as one module; greedy decoding with it
``export``    the module as an ONNX graph, or a sentence that names the line
``score``     measures on held-out sentences or scenes
``page``      the HTML file; its ``button`` is that of the panel
``eject``     the parts as a file that needs only PyTorch
"""

from seqcourse.check.panel import button
from seqcourse.publish.page import publish, ready
from seqcourse.publish.system import own_system

__all__ = ["button", "own_system", "publish", "ready"]
