// Search runs in a worker, which browsers refuse to pages that are opened from disk. There a hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      const answer = event => {
        if (event.source !== this.frame.contentWindow) return
        const message = new MessageEvent("message", { data: event.data })
        this.dispatchEvent(message)
        if (this.onmessage) this.onmessage(message)
      }
      addEventListener("message", answer)
      this.frame.srcdoc = `<!doctype html><script>
        const put = url => new Promise((done, failed) => {
          const script = document.createElement("script")
          Object.assign(script, { src: new URL(url, ${JSON.stringify(String(url))}), onload: done, onerror: failed })
          document.head.appendChild(script)
        })
        window.importScripts = (...urls) => urls.reduce((all, url) => all.then(() => put(url)), Promise.resolve())
        window.postMessage = data => parent.postMessage(data, "*")
      </scr${""}ipt><script src="${url}"></scr${""}ipt>`
      this.frame.onload = () => {
        this.ready = true
        for (const data of this.waiting.splice(0)) this.postMessage(data)
      }
      document.documentElement.appendChild(this.frame)
    }

    postMessage(data) {
      if (!this.ready) return this.waiting.push(data)
      const inside = this.frame.contentWindow
      inside.dispatchEvent(new inside.MessageEvent("message", { data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
