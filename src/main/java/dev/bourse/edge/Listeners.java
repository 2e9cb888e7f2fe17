package dev.bourse.edge;

import io.netty.channel.Channel;
import io.netty.channel.nio.AbstractNioChannel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

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

  /**
   * A socket that a selector knows is closed by the system only with the selector's next look, and
   * whoever connects before it is reset. So it is taken from the selector first.
   */
  private static Future<Void> close(Channel channel) {
    Promise<Void> done = Promise.promise();
    channel
        .deregister()
        .addListener(deregistered -> afterNextLook(channel, () -> closeUnwatched(channel, done)));
    return done.future();
  }

  /** Runs what is due at once, which an event loop does not do before its selector has looked. */
  private static void afterNextLook(Channel channel, Runnable work) {
    try {
      channel.eventLoop().schedule(work, 0, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException stopped) {
      // It looks no more.
      work.run();
    }
  }

  private static void closeUnwatched(Channel channel, Promise<Void> done) {
    try {
      takeWaiting(channel);
    } finally {
      channel.close().addListener(closed -> done.complete());
    }
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
