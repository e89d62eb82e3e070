"""A kernel client for untrusted kernels: huge, malformed and endless messages are handled."""

from __future__ import annotations

import asyncio
import time
from queue import Empty
from typing import Any

import zmq
import zmq.asyncio
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from nbclient.exceptions import DeadKernelError

# Messages buffered before the kernel has to wait.
WAITING = 100
# Timeout for sending in milliseconds; reached only when the kernel is gone.
SENDING = 2_000
# Milliseconds until a closed connection is opened again: a day. With libzmq's own "never", -1, a kernel
# that dies between two parts of a message can end this process: "Assertion failed: !_more (src/fq.cpp)".
NEVER = 24 * 60 * 60 * 1000
# Errors that reading a malformed message can raise.
MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, AssertionError)


class ConfinedChannel(AsyncZMQSocketChannel):
    """Counts received bytes, rejects malformed messages and detects a closed connection."""

    manager: Any = None
    lost = False

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:
        """Return the next message.

        Raises:
            Empty: after ``timeout`` seconds, or when the kernel has closed the connection.
        """
        assert self.socket is not None
        poller = zmq.asyncio.Poller()
        poller.register(self.socket, zmq.POLLIN)
        if not self.lost:
            poller.register(self.socket.get_monitor_socket(), zmq.POLLIN)
        milliseconds = None if timeout is None else max(0, int(timeout * 1000))
        ready = dict(await poller.poll(milliseconds))
        if self.socket in ready:
            return await self._recv()
        if ready:
            self.lost = True
            await self.manager.lost()
            if timeout is None:
                await asyncio.Event().wait()  # the caller also polls is_alive and cancels this
        raise Empty

    def send(self, msg: dict[str, Any]) -> None:
        """Send a message.

        Raises:
            DeadKernelError: the kernel has closed the connection, and the queue is full.
        """
        try:
            super().send(msg)
        except zmq.Again as error:
            raise DeadKernelError("The kernel has hung up.") from error

    def close(self) -> None:
        """Close the socket and its monitor."""
        if self.socket is not None:
            self.socket.disable_monitor()
        super().close()

    stop = close

    async def _recv(self, **options: Any) -> dict[str, Any]:
        assert self.socket is not None
        parts = await self.socket.recv_multipart(**options)
        if self.manager is not None:
            self.manager.received(sum(len(part) for part in parts))
        try:
            _, message = self.session.feed_identities(parts)
            read = self.session.deserialize(message)
            read["header"]["msg_type"], read["parent_header"].get("msg_id"), read["content"].get  # noqa: B018
        except MALFORMED as error:
            if self.manager is not None:
                self.manager.end("sent an invalid message")
            raise Empty from error
        return read


class ShellChannel(ConfinedChannel):
    """Notifies the manager of each reply."""

    async def _recv(self, **options: Any) -> dict[str, Any]:
        read = await super()._recv(**options)
        if self.manager is not None:
            self.manager.replied()
        return read


class ConfinedKernelClient(AsyncKernelClient):
    """Client of a sandboxed kernel. Has no stdin, and no heartbeat: the manager knows if it is alive."""

    shell_channel_class = ShellChannel
    iopub_channel_class = ConfinedChannel
    control_channel_class = ConfinedChannel

    def start_channels(
        self,
        shell: bool = True,
        iopub: bool = True,
        stdin: bool = False,
        hb: bool = False,
        control: bool = True,
    ) -> None:
        """Connect only the channels that grading needs: shell and iopub."""
        super().start_channels(shell=shell, iopub=iopub, stdin=False, hb=False, control=False)
        for channel in (self.shell_channel, self.iopub_channel):
            channel.manager = self.parent

    def stop_channels(self) -> None:
        """Close the open channels. jupyter_client's version would first open the others."""
        for channel in (self._shell_channel, self._iopub_channel, self._control_channel):
            if channel is not None:
                channel.stop()

    def _create_connected_socket(self, channel: str, identity: bytes | None = None) -> Any:
        # Like the parent's method, but sets options before connecting. Reconnecting is disabled: student
        # code could replace the socket file with a link to one of ours.
        from jupyter_client.connect import channel_socket_types

        made = self.context.socket(channel_socket_types[channel])
        made.linger = 0
        made.setsockopt(zmq.MAXMSGSIZE, self.parent.limits.message)
        made.setsockopt(zmq.RCVHWM, WAITING)
        made.setsockopt(zmq.RECONNECT_IVL, NEVER)
        made.setsockopt(zmq.SNDTIMEO, SENDING)
        if identity:
            made.identity = identity
        made.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        made.connect(self._make_url(channel))
        return made

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait until the kernel answers on both channels.

        Faster than jupyter_client's version, which always waits another 0.2 s for further messages.

        Raises:
            RuntimeError: the kernel died, or did not answer in time.
        """
        until = time.monotonic() + (timeout or 60)
        while True:
            asked = self.kernel_info()
            try:
                await self._reply(asked, 5.0)
                await self._idle(asked, 0.05)
                return
            except Empty:
                if not await self.is_alive():
                    why = self.parent.why_dead()
                    raise RuntimeError(f"Kernel died before replying to kernel_info: {why}") from None
                if time.monotonic() > until:
                    raise RuntimeError(f"Kernel didn't respond in {timeout:g} seconds") from None

    async def _reply(self, asked: str, timeout: float) -> None:
        until = time.monotonic() + timeout
        while True:
            message = await self.get_shell_msg(timeout=max(0.0, until - time.monotonic()))
            if message["parent_header"].get("msg_id") == asked:
                return

    async def _idle(self, asked: str, timeout: float) -> None:
        until = time.monotonic() + timeout
        while True:
            message = await self.get_iopub_msg(timeout=max(0.0, until - time.monotonic()))
            if message["parent_header"].get("msg_id") == asked:
                if message["content"].get("execution_state") == "idle":
                    return

    async def is_alive(self) -> bool:
        return await self.parent.is_alive()
