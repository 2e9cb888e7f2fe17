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
 * The listening sockets, which are known from their connections. They are closed before the server,
 * because a closing server still accepts for a moment and then drops the connection together with
 * its request.
 */
final class Listeners {
  /** Connections that may wait to be accepted: two seconds of five hundred each. */
  static final int BACKLOG = 1_024;

  private final Set<Channel> listening = ConcurrentHashMap.newKeySet();

  /** Records the listening socket of a connection. */
  void arrived(HttpConnection http) {
    if (http instanceof ConnectionBase base) {
      Channel parent = base.channelHandlerContext().channel().parent();
      if (parent != null) {
        listening.add(parent);
      }
    }
  }

  /** Closes the sockets, so that new connections are refused and a proxy uses another process. */
  Future<Void> close() {
    return Future.all(listening.stream().map(Listeners::close).toList()).mapEmpty();
  }

  /**
   * Closes a socket. The system closes a socket of a selector only at the selector's next poll and
   * resets connections that arrive before it, so the socket is removed from the selector first.
   */
  private static Future<Void> close(Channel channel) {
    Promise<Void> done = Promise.promise();
    channel
        .deregister()
        .addListener(deregistered -> afterNextLook(channel, () -> closeUnwatched(channel, done)));
    return done.future();
  }

  /**
   * Runs a task after the selector's next poll, which the event loop does not wait for by itself.
   */
  private static void afterNextLook(Channel channel, Runnable work) {
    try {
      channel.eventLoop().schedule(work, 0, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException stopped) {
      // The selector has stopped.
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
   * Accepts the connections that the system has queued. It would reset them with the socket, and a
   * proxy does not send a POST again to another process.
   */
  private static void takeWaiting(Channel channel) {
    if (channel.unsafe() instanceof AbstractNioChannel.NioUnsafe socket) {
      // After a connection could not be accepted, for example for lack of file descriptors, Netty
      // pauses reading.
      for (int i = 0; i < BACKLOG && channel.isOpen() && channel.config().isAutoRead(); i++) {
        socket.read();
      }
    }
  }
}
