// Only on pages that keep the state of a Jupyter widget.
(function () {
  "use strict";
  // The widgets' manager and its icon fonts lie in the vendor folder beside this file.
  var here = document.currentScript.src.replace(/widgets\.js.*$/, "vendor/");
  window.requirejs.config({ baseUrl: here });
})();
