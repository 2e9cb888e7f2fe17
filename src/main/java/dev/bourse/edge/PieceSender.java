package dev.bourse.edge;

import dev.bourse.edge.limits.Connections;
import dev.bourse.edge.limits.OpenConnection;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sends one long response. It requests a piece after the operating system has taken the previous
 * one, so one piece is in memory at a time. {@link Connections} disconnects a client that stops
 * taking them.
 */
final class PieceSender {
  private final Exchange exchange;
  private final OpenConnection connection;
  private final Pieces pieces;
  private final String parameters;
  private @Nullable HttpServerResponse response;

  PieceSender(Exchange exchange, OpenConnection connection, Answer.Streamed answer) {
    this.exchange = exchange;
    this.connection = connection;
    this.pieces = answer.pieces();
    this.parameters = answer.parameters();
  }

  /** Requests the next piece, including the first. */
  void ask() {
    Future<Optional<Buffer>> asked;
    try {
      asked = pieces.next();
    } catch (Throwable fault) {
      asked = Future.failedFuture(fault);
    }
    // Through the queue, so that ready pieces do not deepen the stack and other connections get a
    // turn in between.
    asked.onComplete(next -> exchange.later(() -> take(next)));
  }

  private void take(AsyncResult<Optional<Buffer>> next) {
    HttpServerResponse begun = response;
    if (begun == null) {
      begin(next);
    } else if (next.failed()) {
      cut(begun, next.cause());
    } else if (next.result().isEmpty()) {
      finish(begun);
    } else {
      send(begun, next.result().get());
    }
  }

  /** Starts the response. A fault before the first piece is answered as an error. */
  private void begin(AsyncResult<Optional<Buffer>> first) {
    if (first.failed()) {
      exchange.fail(first.cause());
      return;
    }
    HttpServerResponse begun = exchange.beginStreamed(parameters);
    if (begun == null) {
      return;
    }
    response = begun;
    if (first.result().isEmpty() || HttpMethod.HEAD.equals(exchange.request().method())) {
      exchange.end(begun, null);
      return;
    }
    // Has no effect on HTTP/1.0, which has no chunks.
    begun.setChunked(true);
    send(begun, first.result().get());
  }

  private void send(HttpServerResponse begun, Buffer piece) {
    connection.sends();
    begun
        .write(piece)
        .onSuccess(
            sent -> {
              connection.sent();
              ask();
            })
        .onFailure(fault -> cut(begun, fault));
  }

  private void finish(HttpServerResponse begun) {
    exchange.end(begun, null);
    if (exchange.request().version() == HttpVersion.HTTP_1_0) {
      // The end of the connection is the only mark of the response's end.
      connection.close();
    }
  }

  /** Closes the connection within the response, so that the client sees that it is incomplete. */
  private void cut(HttpServerResponse begun, Throwable fault) {
    exchange.cutOff(begun.getStatusCode(), fault);
    connection.close();
  }
}
