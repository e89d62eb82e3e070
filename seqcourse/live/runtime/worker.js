// The page's side of the worker that computes: send(call, arguments) promises its answer.
(function () {
  "use strict";
  const live = window.seqlive, waiting = new Map();
  let worker = null, number = 0;

  // What the worker does with a message. A refusal is meant for the reader; it says so.
  function serve(live, reply) {
    return function ({ data }) {
      try {
        reply({ number: data.number, answer: live[data.call](data.given) });
      } catch (error) {
        reply({ number: data.number, error: error.message, plain: error instanceof live.Refusal });
      }
    };
  }

  function receive({ data }) {
    const { resolve, reject } = waiting.get(data.number);
    waiting.delete(data.number);
    if ("error" in data) reject(Object.assign(new Error(data.error), { plain: data.plain }));
    else resolve(data.answer);
  }

  // A worker that dies takes its models along. The next question starts another one.
  function lose(message) {
    worker = null;
    live.forget();
    waiting.forEach(({ reject }) => reject(new Error(message)));
    waiting.clear();
  }

  // The page computes by itself.
  function alone() {
    const own = {};
    live.parts.forEach((part) => part(own));
    const answer = serve(own, (data) => receive({ data }));
    return { postMessage: (data) => setTimeout(() => answer({ data })) };
  }

  // A worker made of the parts' own text: a page on disk may start such a one, too. Where none may be
  // started, by the browser or by a policy of the site, the page takes over what was asked.
  function start() {
    let heard = false;
    const parts = live.parts.map((part) => `(${part})(live);`).join("\n");
    const text = `const live={},seqlive={part(){}};\n${parts}\nself.onmessage=(${serve})(live,m=>self.postMessage(m));`;
    try {
      const made = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
      made.onmessage = function (event) {
        heard = true;
        receive(event);
      };
      made.onerror = function (event) {
        if (heard) return lose(event.message || "the worker stopped");
        worker = alone();
        waiting.forEach(({ asked }) => worker.postMessage(asked));
      };
      return made;
    } catch {
      return alone();
    }
  }

  live.send = function (call, given) {
    worker ||= start();
    return new Promise(function (resolve, reject) {
      const asked = { number: (number += 1), call, given };
      waiting.set(number, { asked, resolve, reject });
      worker.postMessage(asked);
    });
  };
})();
