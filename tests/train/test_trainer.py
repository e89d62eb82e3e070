"""The loop: it goes on after a kill with the same result, stops when told, and says what is wrong."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from seqcourse import CourseError, data, models, seed_everything, train

PROGRAM = """
import sys, torch
from pathlib import Path
from seqcourse import data, models, seed_everything, train
torch.set_num_threads(1)
seed_everything(3)
model = models.AttentionSeq2Seq(12, 12, 8, 12, dropout=0.3)
src, tgt = data.copy_task(400, 5, symbols=8, seed=0)
batches = data.Batches(src, tgt, batch_size=16)
config = train.TrainingConfig(epochs=4, learning_rate=5e-3, warmup_steps=5, decay="cosine", save_every=3)
valid = data.Batches(*data.copy_task(40, 5, symbols=8, seed=1), batch_size=40, shuffle=False)
validate = lambda m: sum(train.teacher_forcing_loss(m, b).item() for b in valid)
trainer = train.Trainer(model, train.teacher_forcing_loss, config, Path(sys.argv[1]))
history = trainer.fit(batches, validate, resume=True)
torch.save([model.state_dict(), history.step_losses, history.valid], sys.argv[2])
"""


def start(folder: Path, result: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder), str(result)])


def test_a_killed_run_goes_on_to_the_same_result(tmp_path):
    """Killed with SIGKILL twice, at moments of its own, against a run that was left alone."""
    assert start(tmp_path / "calm", tmp_path / "calm.pt").wait(300) == 0
    checkpoint = tmp_path / "killed" / "checkpoint.pt"
    for _ in range(2):
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        process = start(tmp_path / "killed", tmp_path / "killed.pt")
        deadline = time.monotonic() + 120
        while not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before:
            assert time.monotonic() < deadline, "no checkpoint appeared"
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "killed.pt").exists()
    assert start(tmp_path / "killed", tmp_path / "killed.pt").wait(300) == 0
    calm, killed = (torch.load(tmp_path / f"{n}.pt") for n in ("calm", "killed"))
    assert calm[1] == killed[1]  # every single loss
    assert calm[2] == killed[2]
    for name, value in calm[0].items():
        assert torch.equal(value, killed[0][name]), name


def small(**options):
    seed_everything(0)
    model = models.EncoderDecoder(12, 12, 8, 12)
    batches = data.Batches(*data.copy_task(64, 4, symbols=8, seed=0), batch_size=16)
    folder = options.pop("folder", None)
    loss = options.pop("loss", train.teacher_forcing_loss)
    return train.Trainer(model, loss, train.TrainingConfig(**options), folder), batches


def test_max_steps_ends_inside_an_epoch():
    trainer, batches = small(epochs=5, max_steps=6)
    history = trainer.fit(batches)
    assert len(history.step_losses) == 6
    assert len(history.epoch_losses) == 1


def test_early_stop_keeps_the_best_weights():
    trainer, batches = small(epochs=50, patience=2)
    values, kept = iter([3.0, 2.0, 2.5, 2.2, 1.0]), []

    def validate(model):
        kept.append({k: v.clone() for k, v in model.state_dict().items()})
        return next(values)

    history = trainer.fit(batches, validate)
    assert history.valid == [3.0, 2.0, 2.5, 2.2]
    for name, value in trainer.model.state_dict().items():
        assert torch.equal(value, kept[1][name])


def test_rate_warms_up_and_decays():
    trainer, batches = small(epochs=5, learning_rate=1.0, warmup_steps=4, decay="linear")
    trainer.fit(batches)  # 20 steps
    rates = [trainer.rate(step) for step in range(20)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[4] == 1.0
    assert rates[12] == pytest.approx(0.5)
    assert min(rates[4:]) == pytest.approx(1 / 16) == rates[19]


def test_gradients_are_clipped():
    seen = []

    def loss(model, batch):
        return 1e4 * train.teacher_forcing_loss(model, batch)

    trainer, batches = small(epochs=1, clip_norm=0.5, loss=loss)
    trainer.optimizer.register_step_post_hook(
        lambda optimizer, *_: seen.append(
            torch.stack([p.grad.norm() for g in optimizer.param_groups for p in g["params"]])
            .norm()
            .item()
        )
    )
    trainer.fit(batches)
    assert seen
    assert max(seen) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_precision(precision):
    """Under bf16 the model computes in 16 bits and its parameters stay in 32."""
    dtypes = []

    def loss(model, batch):
        output = model(batch.src, batch.src_lengths, batch.tgt_in)
        dtypes.append(output.logits.dtype)
        return train.teacher_forcing_loss(model, batch)

    trainer, batches = small(epochs=2, precision=precision, loss=loss)
    history = trainer.fit(batches)
    assert set(dtypes) == {torch.bfloat16 if precision == "bf16" else torch.float32}
    assert all(p.dtype == torch.float32 for p in trainer.model.parameters())
    assert history.epoch_losses[1] < history.epoch_losses[0]


def test_a_loss_that_is_no_number_stops_with_advice():
    trainer, batches = small(
        epochs=1, loss=lambda m, b: train.teacher_forcing_loss(m, b) * float("nan")
    )
    with pytest.raises(CourseError, match="loss became nan at step 1.*lower learning rate"):
        trainer.fit(batches)


def test_a_checkpoint_of_other_options_is_refused(tmp_path):
    trainer, batches = small(epochs=1, folder=tmp_path)
    trainer.fit(batches)
    other, _ = small(epochs=2, folder=tmp_path)
    with pytest.raises(CourseError, match="other training options"):
        other.fit(batches, resume=True)


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04broken"])
def test_a_damaged_checkpoint_is_named(tmp_path, content):
    (tmp_path / "checkpoint.pt").write_bytes(content)
    trainer, batches = small(epochs=1, folder=tmp_path)
    with pytest.raises(CourseError, match="cannot be read.*train again"):
        trainer.fit(batches, resume=True)


def test_checkpoints_never_run_code(tmp_path):
    class Evil:
        def __reduce__(self):
            return (os.system, ("true",))

    torch.save({"model": Evil()}, tmp_path / "checkpoint.pt")
    with pytest.raises(CourseError, match="cannot be read"):
        train.load_checkpoint(tmp_path / "checkpoint.pt")


def test_two_processes_learn_together(tmp_path):
    """Gradients are averaged: both processes end with the same weights, on half the batches each."""
    program = PROGRAM.replace("epochs=4", "epochs=1").replace(
        "sys.argv[2])", "sys.argv[2] + str(trainer.accelerator.process_index))"
    )
    file = tmp_path / "program.py"
    file.write_text(program)
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node=2",
        "--master-port=29617",
    ]
    subprocess.run(
        [*command, str(file), str(tmp_path / "run"), str(tmp_path / "result")],
        check=True,
        timeout=240,
        env={**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"},
    )
    one, two = (torch.load(tmp_path / f"result{rank}") for rank in range(2))
    assert len(one[1]) == len(two[1]) == 12  # 25 batches, every second one each
    assert one[1] != two[1]  # different batches
    for name, value in one[0].items():
        torch.testing.assert_close(value, two[0][name])
