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
 * Resolves the host of a URL that a user entered to the address to connect to. The host is looked
 * up once. All its addresses must be public and the port must be 443, unless an operator listed the
 * host.
 */
public final class PublicHosts {
  public static final int HTTPS = 443;

  private static final int HTTP = 80;

  /**
   * One message for both cases: a user who enters host names must not learn which of them resolve
   * only inside this network.
   */
  private static final String NOT_PUBLIC =
      "its host is not known, or has an address that is not public";

  /** Looks up the addresses of a host. */
  @FunctionalInterface
  public interface Resolver {
    InetAddress[] resolve(String host) throws UnknownHostException;
  }

  /**
   * Thrown when a URL has no permitted address; the message is for the user who entered the URL.
   */
  public static final class HostRejectedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean isBusy;

    HostRejectedException(String why) {
      this(why, false);
    }

    HostRejectedException(String why, boolean isBusy) {
      super(why, null, false, false);
      this.isBusy = isBusy;
    }

    /**
     * Returns true if the host was not looked up because too many look-ups are in progress; the
     * caller may retry.
     */
    public boolean isBusy() {
      return isBusy;
    }
  }

  private final Resolver resolver;
  private final WorkerExecutor threads;
  private final Semaphore resolving;
  private final Set<String> privateHosts;

  /**
   * @param name of the worker threads. They serve nothing else, because a look-up may block for as
   *     long as the name server likes and a user may control the name server of a host
   * @param threads look-ups that run at once
   * @param waiting look-ups that run or wait, at most
   * @param privateHosts hosts that may have private addresses and name a port
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

  /** Parses a comma-separated setting of host names; records a fault for each invalid one. */
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

  /** Returns true if an operator listed the host, so that it may have private addresses. */
  public boolean isPrivate(String host) {
    return privateHosts.contains(host);
  }

  /** Returns the address to connect to; fails with {@link HostRejectedException}. */
  public Future<SocketAddress> resolve(URI address) {
    String host = address.getHost();
    if (host == null) {
      return Future.failedFuture(new HostRejectedException("its address names no host"));
    }
    int usual = "http".equals(address.getScheme()) ? HTTP : HTTPS;
    int port = address.getPort() < 0 ? usual : address.getPort();
    if (!isPrivate(host) && port != HTTPS) {
      return Future.failedFuture(new HostRejectedException("its address must not name a port"));
    }
    if (!resolving.tryAcquire()) {
      return Future.failedFuture(
          new HostRejectedException("too many hosts are being looked up; try again", true));
    }
    return threads
        .executeBlocking(() -> SocketAddress.inetSocketAddress(port, checked(host)), false)
        .onComplete(done -> resolving.release());
  }

  private String checked(String host) {
    InetAddress[] found;
    try {
      found = resolver.resolve(host);
    } catch (UnknownHostException unknown) {
      throw new HostRejectedException(NOT_PUBLIC);
    }
    for (InetAddress one : found) {
      if (!isPrivate(host) && !PublicAddress.isPublic(one)) {
        throw new HostRejectedException(NOT_PUBLIC);
      }
    }
    return found[0].getHostAddress();
  }

  /** Ends the worker threads; no look-up is possible afterwards. */
  public Future<Void> close() {
    return threads.close();
  }
}
