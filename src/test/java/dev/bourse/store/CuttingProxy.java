package dev.bourse.store;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands between the store and its server, and cuts a connection at a chosen moment. */
public final class CuttingProxy {
  /** The fate of the next COMMIT. */
  public enum Plan {
    NOTHING,
    /** It does not reach the server. */
    LOSE_COMMIT,
    /** The server executes it; its answer is lost. */
    LOSE_ANSWER,
    /** It does not reach the server, and its connection is silent from then on, without an end. */
    SWALLOW_COMMIT,
    /** All connections fall silent without being closed. */
    FALL_SILENT
  }

  private final NetServer server;
  private final NetClient client;
  private final int target;
  public volatile Plan plan = Plan.NOTHING;

  /** When set, connections are refused. */
  public volatile boolean isDown;

  /** How many of the next connections are accepted and never answered. */
  public final AtomicInteger unanswered = new AtomicInteger();

  private final AtomicInteger joined = new AtomicInteger();
  private volatile int lost;

  private CuttingProxy(Vertx vertx, int target) {
    this.target = target;
    client = vertx.createNetClient();
    server = vertx.createNetServer().connectHandler(this::connect);
  }

  public static Future<CuttingProxy> start(Vertx vertx, int target) {
    CuttingProxy proxy = new CuttingProxy(vertx, target);
    return proxy.server.listen(0, "localhost").map(proxy);
  }

  /** Silences the existing connections without closing them; new ones work. */
  public void lose() {
    lost = joined.get();
  }

  public int port() {
    return server.actualPort();
  }

  private void connect(NetSocket near) {
    if (isDown) {
      near.close();
      return;
    }
    if (unanswered.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      return;
    }
    near.pause();
    client
        .connect(target, "localhost")
        .onSuccess(far -> join(near, far))
        .onFailure(refused -> near.close());
  }

  private void join(NetSocket near, NetSocket far) {
    boolean[] isMute = {false};
    boolean[] isDeaf = {false};
    int number = joined.incrementAndGet();
    near.handler(
        bytes -> {
          if (number <= lost || isDeaf[0]) {
            return;
          }
          boolean isCommit = bytes.toString(StandardCharsets.ISO_8859_1).contains("COMMIT\0");
          Plan now = isCommit ? plan : plan == Plan.FALL_SILENT ? plan : Plan.NOTHING;
          if (now == Plan.FALL_SILENT && (isCommit || isMute[0])) {
            isMute[0] = true;
          } else if (now == Plan.SWALLOW_COMMIT) {
            isDeaf[0] = true;
            plan = Plan.NOTHING;
          } else if (now == Plan.LOSE_COMMIT) {
            plan = Plan.NOTHING;
            near.close();
            far.close();
          } else {
            if (now == Plan.LOSE_ANSWER) {
              isMute[0] = true;
              plan = Plan.NOTHING;
            }
            far.write(bytes);
          }
        });
    far.handler(
        (Buffer bytes) -> {
          if (number <= lost || isDeaf[0]) {
            return;
          }
          if (!isMute[0]) {
            near.write(bytes);
          } else if (plan != Plan.FALL_SILENT) {
            near.close();
            far.close();
          }
        });
    near.closeHandler(v -> far.close());
    far.closeHandler(v -> near.close());
    near.resume();
  }
}
