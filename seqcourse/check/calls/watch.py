"""Which functions really run while an answer is called, and which of them are the answer itself.

    with Watch() as watch:
        answer(*arguments)
    refuse("softmax", watch.ran, ["softmax", "log_softmax"])

What counts is what runs, not what the source looks like: an alias, `getattr` or `exec` changes
nothing. Three recorders work together, each on what the others cannot see: a dispatch mode on the
operators of PyTorch (whether a method, `torch.ops` or TorchScript calls them), a function mode on its
functions before they fall into operators (`torch.lstm`), and Python's profiler on the Python functions
of every library. An audit hook notes what would escape all three: threads, processes, ctypes, tracing.

A function of this package counts by its own name, and what it runs inside does not:
`functional.attention` may be used where PyTorch's `scaled_dot_product_attention` is forbidden.

The record is made in the process that an answer runs in, so code there can falsify it. Treat it as a
deterrent: `cellgrader` shows an instructor what looks like an attempt.
"""

from __future__ import annotations

import _thread as _thread_module
import contextlib
import functools
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from seqcourse.check.calls.libraries import GRADER, INSTALLED, PACKAGE, STANDARD

# Kept from the time of import, so that an answer that replaces them in their modules changes nothing.
_getprofile, _setprofile, _frame = sys.getprofile, sys.setprofile, sys._getframe
_thread, _start_thread = threading.get_ident, _thread_module.start_new_thread
_BUILT_IN = type(len)

_CHECKS = "seqcourse.check"
# The operators that PyTorch brings; what one of another library runs is not recorded.
_SPACES = ("aten", "prim", "prims", "profiler")
_SWITCH = "TORCH_COMPILE_DISABLE"  # the compiler reads it when it is imported
# What these call themselves (numel, named_parameters) is no use of the answer's.
_CHECKING = (f"{_CHECKS}.calls.values", f"{_CHECKS}.calls.modules")

# What hides from the record: audit event -> kind -> words.
_EVENTS = {
    "_thread.start_new_thread": "thread",  # from Python 3.12 on
    "_thread.start_joinable_thread": "thread",
    "os.exec": "process",
    "os.fork": "process",
    "os.forkpty": "process",
    "os.posix_spawn": "process",
    "os.system": "process",
    "subprocess.Popen": "process",
    "ctypes.dlopen": "ctypes",
    "ctypes.dlsym": "ctypes",
    "ctypes.dlsym/handle": "ctypes",
    "ctypes.call_function": "ctypes",
    "sys.setprofile": "tracing",
    "sys.settrace": "tracing",
}


class Watch:
    """Records what runs in this thread inside the `with`.

    ran: full names, each once, in the order of the first call, as "module:name":
        "seqcourse.functional.scores:softmax", "torch.nn.modules.rnn:LSTM.forward", "torch:lstm",
        "torch.Tensor:numel", "torch.ops.aten:_softmax"; "unseen:thread" and the like for what escapes.
    """

    def __init__(self) -> None:
        self._ran: dict[str, str] = {}
        self._pauses = 0
        self._thread = _thread()
        self._stack = contextlib.ExitStack()

    @property
    def ran(self) -> tuple[str, ...]:
        return tuple(self._ran)

    @property
    def ran_in(self) -> dict[str, str]:
        """All that ran, with the function of the answer, or of another one, that called it first."""
        return dict(self._ran)

    def __enter__(self) -> Watch:
        _listen()
        self._stack.enter_context(_uncompiled())
        self._stack.enter_context(_Functions(self))
        self._stack.enter_context(_Operators(self))
        if not isinstance(_setprofile, _BUILT_IN):
            self.add("unseen:tracing")
        self._before = _getprofile()
        self._profiler = self._profile
        _setprofile(self._profiler)
        _watching.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _watching.remove(self)
        if _getprofile() is not self._profiler:
            self.add("unseen:tracing")
        _setprofile(self._before)
        self._stack.close()

    def add(self, name: str, function: str = "") -> None:
        """Write down a name, unless it runs in what was handed to the answer (`paused`)."""
        if not self._pauses:
            self._ran.setdefault(name, function)

    def add_called(self, name: str, caller: types.FrameType | None) -> None:
        """Write down a name, unless a helper of this package or a check calls it on its own account."""
        if name and not self._pauses and name not in self._ran and _is_of_answer(caller):
            self.add(name, _function_of(caller))

    def _profile(self, frame: types.FrameType, event: str, argument: Any) -> None:
        if event == "call":
            known = _names.get(id(frame.f_code))
            name = known[1] if known else _name_of(frame.f_code)
            if not name or name in self._ran and not name.startswith("seqcourse."):
                return  # most calls: an answer may make many thousands
            for name in _names_of(frame):
                self.add_called(name, frame.f_back)
        elif event == "c_call" and argument is _start_thread and not _is_aside(frame):
            self.add("unseen:thread")


@contextlib.contextmanager
def _uncompiled() -> Iterator[None]:
    """Run functions under `torch.compile` as they are written: compiled, they would not be recorded.

    PyTorch imports its compiler, for seconds, only where somebody uses it.
    """
    with contextlib.ExitStack() as stack:
        if "torch._dynamo" in sys.modules:
            stack.enter_context(torch.compiler.set_stance("force_eager"))
            yield
            return
        before = os.environ.get(_SWITCH)
        os.environ[_SWITCH] = "1"
        try:
            yield
        finally:
            os.environ.pop(_SWITCH) if before is None else os.environ.update({_SWITCH: before})
            if "torch._dynamo" in sys.modules and before is None:
                torch._dynamo.config.disable = False


_watching: list[Watch] = []


class _Operators(TorchDispatchMode):
    """Records PyTorch's operators: "torch.ops.aten:_softmax"."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch would import its compiler, for seconds, only to switch it off for this mode."""
        return False

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def __torch_dispatch__(self, operator, kinds, arguments=(), named=None):
        if not self._watch._pauses:
            name = _operator_name(operator)
            if name not in self._watch._ran:
                self._watch.add_called(name, _frame(1))
                if not name.startswith(_OWN):
                    self._watch.add("unseen:operator")
        return operator(*arguments, **(named or {}))


_OWN = tuple(f"torch.ops.{space}:" for space in _SPACES)
_operators: dict[int, tuple[Any, str]] = {}  # by id: their hash is a function in Python


def _operator_name(operator: Any) -> str:
    """ "torch.ops.aten:_softmax" for an operator."""
    known = _operators.get(id(operator))
    if known is None:
        space, _, name = operator._schema.name.partition("::")
        known = _operators[id(operator)] = (operator, f"torch.ops.{space}:{name}")
    return known[1]


class _Functions(TorchFunctionMode):
    """Records PyTorch's compiled functions and methods: "torch:lstm", "torch.Tensor:numel"."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def __torch_function__(self, function, kinds, arguments=(), named=None):
        # The profiler sees Python functions, by their code: a name could be given anew.
        if not self._watch._pauses and not isinstance(function, types.FunctionType):
            home = getattr(function, "__module__", None) or "torch.Tensor"
            name = f"{home}:{getattr(function, '__name__', '')}"
            if name not in self._watch._ran:
                self._watch.add_called(name, _frame(1))
        return function(*arguments, **(named or {}))


def _names_of(frame: types.FrameType) -> Iterator[str]:
    """The name of a library's function that is called; a method's also in classes that inherit it."""
    name = _name_of(frame.f_code)
    if not name:
        return
    yield name
    if name.startswith("seqcourse.") and frame.f_code.co_varnames[:1] == ("self",):
        for kind in type(frame.f_locals.get("self")).__mro__:
            if frame.f_code.co_name in vars(kind):
                return
            if is_below(kind.__module__, "seqcourse"):
                yield f"{kind.__module__}:{kind.__qualname__}.{frame.f_code.co_name}"


_names: dict[int, tuple[types.CodeType, str]] = {}  # by id: to hash a code object takes long


def _name_of(code: types.CodeType) -> str:
    """ "torch.nn.modules.rnn:LSTM.forward" for a library's code, "" for any other code."""
    known = _names.get(id(code))
    if known is None:
        module = _module_of(code.co_filename)
        name = f"{module}:{code.co_qualname}" if module else ""
        if is_below(module, _CHECKS) and not is_of_the_checks(name):
            name = ""
        known = _names[id(code)] = (code, name)
    return known[1]


@functools.cache
def _module_of(file: str) -> str:
    """The module in a file of a library, "" for any other file."""
    if file.startswith(PACKAGE):
        path = "seqcourse/" + file.removeprefix(PACKAGE)
    elif file.startswith(GRADER):
        path = "cellgrader/" + file.removeprefix(GRADER)
    else:
        root = next((root for root in INSTALLED if file.startswith(root)), None)
        if root is None:
            return ""
        path = file.removeprefix(root)
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_below(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def _is_of_answer(frame: types.FrameType | None) -> bool:
    """Whether a call from this frame is the answer's, and no business of a helper or a check.

    The nearest code that is no library decides. The answer may be a library's function itself: then
    the check is the caller.
    """
    while frame is not None:
        file = frame.f_code.co_filename
        module = _module_of(file)
        if module != __name__ and (is_below(module, "seqcourse") or is_below(module, "cellgrader")):
            return is_below(module, _CHECKS) and module not in _CHECKING
        if file.startswith("<frozen importlib"):  # one library imports another
            return False
        if not module and not file.startswith(STANDARD):
            return True
        frame = frame.f_back
    return True


def _function_of(frame: types.FrameType | None) -> str:
    """The function or class of a student, or "", in which a call from this frame was made."""
    while frame is not None and _module_of(frame.f_code.co_filename):
        frame = frame.f_back
    name = frame.f_code.co_qualname.partition(".")[0] if frame else ""
    return name if name.isidentifier() else ""


def is_of_the_checks(name: str) -> bool:
    """Whether this is code of an assignment's exercises: none of it runs in an honest answer.

    What a sandbox sees of them (`inside`) is no answer's to call either, only what it is handed.
    """
    module, _, path = name.partition(":")
    handed = is_below(module, f"{_CHECKS}.inside") and not path.startswith("record_") and "." not in path
    return handed or module.startswith(f"{_CHECKS}.ps")


@functools.cache
def _listen() -> None:
    """Start to hear audit events; a hook stays for the life of the process."""
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _EVENTS or not _watching or _watching[-1]._thread != _thread():
        return
    if not _is_aside(_frame(1)):
        _watching[-1].add(f"unseen:{_EVENTS[event]}")


def _is_aside(frame: types.FrameType | None) -> bool:
    """Whether a library is being imported here, or a progress bar of tqdm starts its thread."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib") or _module_of(file) == "tqdm.std":
            return True
        frame = frame.f_back
    return False


def paused(function: Callable[..., Any]) -> Callable[..., Any]:
    """A callable to hand to an answer, such as a model: what runs inside it is not recorded.

    An nn.Module stays the object that it is. To be called before the `Watch`, by an exercise.
    """
    for watch in _watching:
        watch.add("unseen:tracing")
    if isinstance(function, nn.Module):
        function.forward = paused(function.forward)
        return function

    @functools.wraps(function)
    def aside(*arguments: Any, **named: Any) -> Any:
        watches = tuple(_watching)
        for watch in watches:
            watch._pauses += 1
        try:
            return function(*arguments, **named)
        finally:
            for watch in watches:
                watch._pauses -= 1

    return aside
