package dev.bourse.edge;

import io.netty.channel.Channel;
import io.netty.channel.nio.AbstractNioChannel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sockets on which connections arrive, known from those that have. They are closed before the
 * server is: a server that is being closed still accepts for a moment, has nobody to give the
 * connection to, and breaks it off with the request that it brought.
 */
final class Listeners {
  /** How many connections may wait to be taken: two seconds of five hundred each. */
  static final int BACKLOG = 1_024;

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
    return Future.all(listening.stream().map(Listeners::close).toList()).mapEmpty();
  }

  private static Future<Void> close(Channel channel) {
    Promise<Void> done = Promise.promise();
    channel
        .eventLoop()
        .execute(
            () -> {
              try {
                takeWaiting(channel);
              } finally {
                channel.close().addListener(closed -> done.complete());
              }
            });
    return done.future();
  }

  /**
   * Takes the connections that the system has accepted and nobody has taken yet. It would reset
   * them with the socket, and a proxy that has sent a POST does not send it to another process.
   */
  private static void takeWaiting(Channel channel) {
    if (channel.unsafe() instanceof AbstractNioChannel.NioUnsafe socket) {
      // Netty reads no more for a while once a connection could not be taken, for want of files,
      // say.
      for (int i = 0; i < BACKLOG && channel.isOpen() && channel.config().isAutoRead(); i++) {
        socket.read();
      }
    }
  }
}
