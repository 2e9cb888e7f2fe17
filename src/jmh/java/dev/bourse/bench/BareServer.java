package dev.bourse.bench;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The least a Vert.x server can do: one event loop that answers every request with the same bytes.
 * Prints {@code ready <url>} like the service.
 *
 * <p>Arguments: the port (0 for a free one) and a file with the answer's body.
 */
public final class BareServer {
  private BareServer() {}

  public static void main(String[] args) throws Exception {
    Buffer body = Buffer.buffer(Files.readAllBytes(Path.of(args[1])));
    String length = String.valueOf(body.length());
    Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1))
        .createHttpServer()
        .requestHandler(
            request ->
                request
                    .response()
                    .putHeader("content-type", "application/json")
                    .putHeader("content-length", length)
                    .end(body))
        .listen(Integer.parseInt(args[0]), "127.0.0.1")
        .onSuccess(server -> System.out.println("ready http://localhost:" + server.actualPort()))
        .onFailure(
            failure -> {
              failure.printStackTrace();
              System.exit(1);
            });
  }
}
