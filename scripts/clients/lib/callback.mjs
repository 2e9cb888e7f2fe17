// The end of an application where the browser brings the answer of the authorization server.
import { createServer } from "node:http";
import { once } from "node:events";
import { PATIENCE_MS } from "./member.mjs";

/** Listens on a port of its own of `host`; its `url` is what to register, `close` must be called. */
export async function openCallback(host = "127.0.0.1", answer = undefined) {
  const arrived = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, address());
    if (url.pathname !== "/callback") {
      response.writeHead(404).end();
      return;
    }
    arrived.push(Object.fromEntries(url.searchParams));
    server.emit("arrived");
    if (answer) {
      answer(response);
    } else {
      response
        .setHeader("Content-Type", "text/html")
        .end('<!doctype html><link rel="icon" href="data:,"><title>Client</title><h1>Back at the client</h1>');
    }
  });
  const address = () => `http://${host}:${server.address().port}`;
  server.listen(0, host.replace(/[[\]]/g, ""));
  await once(server, "listening");
  return {
    url: `${address()}/callback`,
    port: server.address().port,
    /** The parameters of the next answer that arrives, or has. */
    async next() {
      if (arrived.length === 0) {
        await once(server, "arrived", { signal: AbortSignal.timeout(PATIENCE_MS) });
      }
      return arrived.shift();
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
