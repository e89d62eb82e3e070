// Only on pages that keep the state of a Jupyter widget.
(function () {
  "use strict";
  // The widgets' manager and its icon fonts lie in the vendor folder beside this file.
  var here = document.currentScript.src.replace(/widgets\.js.*$/, "vendor/");
  window.requirejs.config({ baseUrl: here });

  // The manager speaks to MathJax 2, the page has MathJax 3: pass its one request on.
  window.addEventListener("load", function () {
    if (window.MathJax && !window.MathJax.Hub) {
      window.MathJax.Hub = {
        Queue: function (request) {
          window.MathJax.startup.promise.then(function () {
            return window.MathJax.typesetPromise([request[2]]);
          });
        },
      };
    }
  });
})();
