package dev.bourse.edge;

import io.netty.channel.Channel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sockets on which connections arrive, known from those that have. They are closed before the
 * server is: a server that is being closed still accepts for a moment, has nobody to give the
 * connection to, and breaks it off with the request that it brought.
 */
final class Listeners {
  private final Set<Channel> listening = ConcurrentHashMap.newKeySet();

  /** A connection has arrived. */
  void arrived(HttpConnection http) {
    if (http instanceof ConnectionBase base) {
      Channel parent = base.channelHandlerContext().channel().parent();
      if (parent != null) {
        listening.add(parent);
      }
    }
  }

  /** Has whoever connects from now on be refused, so that a proxy asks another process. */
  Future<Void> close() {
    List<Future<Void>> closed = new ArrayList<>();
    for (Channel channel : listening) {
      Promise<Void> done = Promise.promise();
      channel.close().addListener(close -> done.complete());
      closed.add(done.future());
    }
    return Future.all(closed).mapEmpty();
  }
}
