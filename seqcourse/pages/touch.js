// Pictures and sounds of a figure are fetched at its first touch, so that nothing flickers or waits:
// a hidden frame has no place near the screen, and a sound is not loaded before. A printed page has all.
(() => {
  const all = (root) => {
    root.querySelectorAll('img[loading="lazy"]').forEach((image) => { image.loading = "eager"; });
  };
  for (const touch of ["pointerover", "focusin", "touchstart"])
    document.addEventListener(touch, ({ target }) => {
      const figure = target.closest?.(".sq-explore, .sq-listen");
      if (!figure) return;
      all(figure);
      figure.querySelectorAll('audio[preload="none"]').forEach((sound) => { sound.preload = "auto"; });
    }, { passive: true });
  addEventListener("beforeprint", () => all(document));

  // Where a server sends no part of a file, a sound could not be played from the middle: take it whole.
  document.addEventListener("loadedmetadata", async ({ target: sound }) => {
    const { seekable } = sound;
    if (!sound.matches("audio") || sound.src.startsWith("blob:")) return;
    if (seekable.length && seekable.end(0) > 0) return;
    const playing = !sound.paused;
    const file = await fetch(sound.currentSrc);
    sound.src = URL.createObjectURL(await file.blob());
    if (playing) sound.play();
  }, true);
})();
