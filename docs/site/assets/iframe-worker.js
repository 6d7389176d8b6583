// Web workers for pages that are opened from a file: browsers refuse `new Worker` there. The search runs in a frame
// of the page instead, which is of the same origin. The theme's plugin `offline` looks for this file's name.
"use strict";

class FrameWorker extends EventTarget {
  #waiting = [];
  #scope = null;

  constructor(url) {
    super();
    const address = new URL(url, document.baseURI).href;
    const start = () => {
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const scope = frame.contentWindow;
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      scope.importScripts = (...urls) => Promise.all(urls.map((each) => FrameWorker.#load(scope, each)));
      FrameWorker.#load(scope, address).then(() => {
        this.#scope = scope;
        this.#waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    };
    if (document.body) start();
    else addEventListener("DOMContentLoaded", start);
  }

  static #load(scope, url) {
    return new Promise((done, failed) => {
      const script = scope.document.createElement("script");
      script.src = url;
      script.onload = done;
      script.onerror = failed;
      scope.document.body.append(script);
    });
  }

  postMessage(data) {
    if (this.#scope) this.#scope.dispatchEvent(new this.#scope.MessageEvent("message", { data }));
    else this.#waiting.push(data);
  }

  set onmessage(listener) {
    this.addEventListener("message", listener);
  }

  terminate() {}
}

if (location.protocol === "file:") window.Worker = FrameWorker;
