package dev.bourse.store.postgres;

import io.netty.channel.Channel;
import io.vertx.core.Future;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.internal.VertxWrapper;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * The Vert.x instance of one attempt to connect. It keeps the attempt's socket, which the client
 * hands out only after the log-in, and closes it at any time. The client's own close ends the
 * output and waits until the server closes the connection, which never happens if the server does
 * not answer.
 */
final class ClosableSocket extends VertxWrapper {
  private volatile @Nullable Channel channel;
  private volatile boolean isClosed;

  ClosableSocket(VertxInternal vertx) {
    super(vertx);
  }

  @Override
  public NetClient createNetClient(NetClientOptions options) {
    NetClient client = super.createNetClient(options);
    return (NetClient)
        Proxy.newProxyInstance(
            NetClient.class.getClassLoader(),
            new Class<?>[] {NetClient.class},
            (proxy, method, arguments) -> {
              Object result;
              try {
                result = method.invoke(client, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
              return method.getName().equals("connect")
                  ? ((Future<?>) result).onSuccess(socket -> opened((NetSocketInternal) socket))
                  : result;
            });
  }

  private void opened(NetSocketInternal socket) {
    channel = socket.channelHandlerContext().channel();
    if (isClosed) {
      closeSocket();
    }
  }

  /** Closes the socket now, or once it is open. */
  void closeSocket() {
    isClosed = true;
    Channel open = channel;
    if (open != null) {
      // From the first handler, so that the client's encoder does not see it.
      open.pipeline().firstContext().close();
    }
  }
}
