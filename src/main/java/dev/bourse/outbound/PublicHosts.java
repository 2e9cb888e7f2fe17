package dev.bourse.outbound;

import dev.bourse.core.Settings;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;

/**
 * Finds the address to connect to for a URL that anybody may have named. The host is looked up
 * once; unless it is one of those an operator listed, all its addresses must be public and the port
 * must be that of https.
 */
public final class PublicHosts {
  /** The port of https. */
  public static final int HTTPS = 443;

  private static final int HTTP = 80;

  /**
   * One sentence for both: whoever names hosts must not learn which of them only this network
   * knows.
   */
  private static final String NOT_PUBLIC =
      "its host is not known, or has an address that is not public";

  /** How a host's addresses are found. */
  @FunctionalInterface
  public interface Resolver {
    InetAddress[] resolve(String host) throws UnknownHostException;
  }

  /** Why there is no address to connect to, in words for whoever named the URL. */
  public static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean isBusy;

    Refused(String why) {
      this(why, false);
    }

    Refused(String why, boolean isBusy) {
      super(why, null, false, false);
      this.isBusy = isBusy;
    }

    /** Whether it was not even looked up, as too many others are, and may be so a little later. */
    public boolean isBusy() {
      return isBusy;
    }
  }

  private final Resolver resolver;
  private final WorkerExecutor threads;
  private final Semaphore resolving;
  private final Set<String> privateHosts;

  /**
   * @param name of its threads. Nothing else uses them: the platform waits for a name server for as
   *     long as it likes, and whoever names a host may own its name server
   * @param threads hosts that are looked up at once
   * @param waiting hosts that are looked up or wait for it
   * @param privateHosts those that may have an address that is not public, and name a port
   */
  public PublicHosts(
      Vertx vertx,
      String name,
      int threads,
      int waiting,
      Set<String> privateHosts,
      Resolver resolver) {
    this.resolver = resolver;
    this.threads = vertx.createSharedWorkerExecutor(name, threads);
    this.resolving = new Semaphore(waiting);
    this.privateHosts = Set.copyOf(privateHosts);
  }

  /**
   * The host names of a setting, with commas between them; a fault is recorded for what is none.
   */
  public static Set<String> hosts(Settings settings, String key) {
    Set<String> hosts = new TreeSet<>();
    for (String host : settings.text(key, "").split("[, ]+", -1)) {
      if (host.matches("[a-z0-9]([a-z0-9.-]*[a-z0-9])?")) {
        hosts.add(host);
      } else if (!host.isEmpty()) {
        settings.fault(key, host, "host names with commas between them");
      }
    }
    return hosts;
  }

  /** Whether an operator listed the host, so that its addresses need not be public. */
  public boolean isPrivate(String host) {
    return privateHosts.contains(host);
  }

  /** The address to connect to; fails with {@link Refused}. */
  public Future<SocketAddress> resolve(URI address) {
    String host = address.getHost();
    if (host == null) {
      return Future.failedFuture(new Refused("its address names no host"));
    }
    int usual = "http".equals(address.getScheme()) ? HTTP : HTTPS;
    int port = address.getPort() < 0 ? usual : address.getPort();
    if (!isPrivate(host) && port != HTTPS) {
      return Future.failedFuture(new Refused("its address must not name a port"));
    }
    if (!resolving.tryAcquire()) {
      return Future.failedFuture(
          new Refused("too many hosts are being looked up; try again", true));
    }
    return threads
        .executeBlocking(() -> SocketAddress.inetSocketAddress(port, checked(host)), false)
        .onComplete(done -> resolving.release());
  }

  /** The address to connect to, looked up once. */
  private String checked(String host) {
    InetAddress[] found;
    try {
      found = resolver.resolve(host);
    } catch (UnknownHostException unknown) {
      throw new Refused(NOT_PUBLIC);
    }
    for (InetAddress one : found) {
      if (!isPrivate(host) && !PublicAddress.isPublic(one)) {
        throw new Refused(NOT_PUBLIC);
      }
    }
    return found[0].getHostAddress();
  }

  /** Looks nothing up any more. */
  public Future<Void> close() {
    return threads.close();
  }
}
