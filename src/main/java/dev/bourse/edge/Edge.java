package dev.bourse.edge;

import dev.bourse.access.Authenticator;
import dev.bourse.contract.Contract;
import dev.bourse.contract.MarkedPaths;
import dev.bourse.contract.OperationContract;
import dev.bourse.core.ApiError;
import dev.bourse.docs.DocsPages;
import dev.bourse.edge.limits.ClientAddress;
import dev.bourse.edge.limits.CountedHandshakes;
import dev.bourse.edge.limits.Occupancy;
import dev.bourse.edge.limits.ProxyProtocol;
import dev.bourse.edge.limits.RequestBudgets;
import dev.bourse.edge.limits.SharedBudgets;
import dev.bourse.edge.tls.Renewal;
import dev.bourse.signals.Signals;
import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Verticle;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The API as a whole: what all of its event loops share. Deploy {@link #verticle} once per event
 * loop; the instances share the port.
 */
public final class Edge {
  private final EdgeConfig config;
  private final List<Contract> contracts;
  private final Operations operations;
  private final Authenticator authenticator;
  private final Function<Throwable, Optional<ApiError>> translation;
  private final Signals signals;
  private final EdgeMetrics metrics;
  private final Sources sources;
  private final SessionGate sessions;
  private final CertificateGate certificates;
  private final RequestBudgets tokenBudgets;
  private final @Nullable SharedBudgets sharedBudgets;
  private final RequestBudgets addressBudgets;
  private final ClientAddress clientAddress;
  private final Occupancy occupancy;
  private final @Nullable ProxyProtocol proxies;
  private final SlowRequests slowRequests;
  private final Traces traces;
  private final @Nullable Renewal renewal;
  private final CountedHandshakes handshakes = new CountedHandshakes();
  private final Listeners listeners = new Listeners();
  private final StreamRoom streamRoom;
  private volatile int actualPort;
  private volatile @Nullable HttpServer server;
  private volatile boolean draining;
  private volatile @Nullable DocsPages pages;

  /**
   * Puts an API together and checks that its parts fit.
   *
   * @param contracts what is served
   * @param operations a handler for each of their operations
   * @param authenticator tells who is calling
   * @param translation makes a refusal of another package's exception; what it leaves empty is
   *     answered 500 and logged
   * @param signals where it is shown what is counted of requests
   * @param sources where time and randomness come from
   * @throws IllegalStateException listing every operation without a handler, handler without an
   *     operation, unknown scope, unserved feature and error code that contracts and service do not
   *     share
   */
  public Edge(
      EdgeConfig config,
      List<Contract> contracts,
      Operations operations,
      Authenticator authenticator,
      Function<Throwable, Optional<ApiError>> translation,
      Signals signals,
      Sources sources) {
    this(
        config,
        contracts,
        operations,
        authenticator,
        translation,
        signals,
        sources,
        null,
        Traces.OFF);
  }

  /**
   * The same with budgets of tokens that other processes share, and with traces.
   *
   * @param sharedBudgets null when this process counts for itself; closed by the caller, after the
   *     API
   * @param traces where requests are told to; closed by the caller, too
   * @throws IllegalStateException as above
   */
  public Edge(
      EdgeConfig config,
      List<Contract> contracts,
      Operations operations,
      Authenticator authenticator,
      Function<Throwable, Optional<ApiError>> translation,
      Signals signals,
      Sources sources,
      @Nullable SharedBudgets sharedBudgets,
      Traces traces) {
    List<String> faults = faults(contracts, operations);
    if (!faults.isEmpty()) {
      throw new IllegalStateException(
          "the contracts and the service do not fit:\n  " + String.join("\n  ", faults));
    }
    this.config = config;
    this.contracts = List.copyOf(contracts);
    this.operations = operations;
    this.authenticator = authenticator;
    this.translation = translation;
    this.signals = signals;
    this.metrics = new EdgeMetrics(signals);
    this.sources = sources;
    this.sessions = new SessionGate(operations.sessions(), this::baseUrl);
    this.certificates = new CertificateGate(config.tls(), authenticator);
    int perMinute = config.requestsPerMinute();
    this.tokenBudgets =
        new RequestBudgets(perMinute, perMinute, "token", "budget", sources.nanos());
    this.sharedBudgets = sharedBudgets;
    int edge = config.edgePerMinute();
    this.addressBudgets =
        new RequestBudgets(
            edge, Math.min(edge, config.edgeBurst()), "client address", "address", sources.nanos());
    this.clientAddress = new ClientAddress(config.trustedProxies());
    this.occupancy = new Occupancy(config.limits().room(), clientAddress);
    this.proxies = config.proxyProtocol() ? new ProxyProtocol(clientAddress) : null;
    this.slowRequests = new SlowRequests(config.slowMillis());
    this.traces = traces;
    this.renewal = config.tls().map(tls -> new Renewal(tls, sources.clock())).orElse(null);
    this.streamRoom = StreamRoom.of(config.limits().room());
    metrics.show(signals, occupancy, streamRoom);
    metrics.showProxies(signals, proxies);
    metrics.showCertificate(signals, renewal);
  }

  private static List<String> faults(List<Contract> contracts, Operations operations) {
    List<String> faults = new ArrayList<>();
    Map<String, String> contractOf = new HashMap<>();
    Map<String, String> contractOfPrefix = new HashMap<>();
    MarkedPaths open = new MarkedPaths(contracts, MarkedPaths.ANY_ORIGIN);
    for (Contract contract : contracts) {
      faults.addAll(contract.faults());
      for (io.vertx.openapi.contract.Operation model : contract.model().operations()) {
        String id = model.getOperationId();
        String other = contractOf.put(id, contract.name());
        if (other != null) {
          faults.add("operation " + id + " is in contracts " + other + " and " + contract.name());
        }
        if (!operations.byId().containsKey(id)) {
          faults.add("operation " + id + " of contract " + contract.name() + " has no handler");
        }
        if (OperationContract.takesSession(model) && open.has(model.getAbsoluteOpenAPIPath())) {
          faults.add("operation " + id + " takes a session where pages of any origin read");
        }
        String prefix = RequestRouter.prefix(model.getAbsoluteOpenAPIPath());
        String holder = contractOfPrefix.putIfAbsent(prefix, contract.name());
        if (holder != null && !holder.equals(contract.name())) {
          faults.add("contracts " + holder + " and " + contract.name() + " share " + prefix);
        }
      }
    }
    Set<String> unknown = new java.util.TreeSet<>(operations.byId().keySet());
    unknown.removeAll(contractOf.keySet());
    unknown.forEach(id -> faults.add("handler " + id + " has no operation in any contract"));
    faults.addAll(Contract.errorCodeFaults(contracts));
    return faults;
  }

  /** A contract that is served; empty when there is none of that name. */
  public Optional<Contract> findContract(String name) {
    return contracts.stream().filter(contract -> contract.name().equals(name)).findFirst();
  }

  /**
   * What {@code GET} answers anybody at this path: a contract or a text; empty for anything else.
   * Made on a worker, for the first to ask waits until it is.
   */
  public Future<Optional<String>> findText(Vertx vertx, String path) {
    if (!pages().has(path)) {
      return Future.succeededFuture(Optional.empty());
    }
    return vertx.executeBlocking(() -> pages().get(path).text());
  }

  /** Calls the read operations of these contracts from within the service. */
  public Dispatcher dispatcher(Set<String> contractNames) {
    return new Dispatcher(
        contracts.stream().filter(contract -> contractNames.contains(contract.name())).toList(),
        operations,
        metrics);
  }

  /**
   * The service is about to stop: no connection is taken any more. On those that are open requests
   * are answered as before, and each answer tells the client to look for another connection and
   * ends its own.
   */
  public Future<Void> drain() {
    draining = true;
    return listeners.close();
  }

  Listeners listeners() {
    return listeners;
  }

  boolean isDraining() {
    return draining;
  }

  /** A new instance of the server, for one event loop. */
  public Verticle verticle() {
    return new EdgeVerticle(this);
  }

  /** The port in use; 0 before the first instance listens. */
  public int actualPort() {
    return actualPort;
  }

  /** The address that clients use; unless it is configured, known once the service listens. */
  public String baseUrl() {
    return config.baseUrl().isEmpty()
        ? (isSecure() ? "https" : "http") + "://localhost:" + actualPort
        : config.baseUrl();
  }

  /** Whether TLS is spoken, by the service itself. */
  boolean isSecure() {
    return renewal != null;
  }

  /** The certificate in use, and what is demanded of clients; null without TLS. */
  @Nullable Renewal renewal() {
    return renewal;
  }

  /** Counts connections from before their TLS handshakes. */
  CountedHandshakes handshakes() {
    return handshakes;
  }

  void listening(HttpServer listening) {
    server = listening;
    actualPort = listening.actualPort();
  }

  /**
   * Looks whether the files of the certificate or of the authorities of clients' have changed, on a
   * worker, and takes what they hold for new connections; those that are open go on with what they
   * began with.
   *
   * @return whether they had
   */
  public Future<Boolean> renewCertificate(Vertx vertx) {
    Renewal renewing = renewal;
    return renewing == null
        ? Future.succeededFuture(false)
        : TlsPort.renew(vertx, renewing, Objects.requireNonNull(server, "it does not listen yet"));
  }

  /** The pages, made when first asked for because they carry the address in force. */
  DocsPages pages() {
    DocsPages made = pages;
    return made == null ? makePages() : made;
  }

  private synchronized DocsPages makePages() {
    DocsPages made = pages;
    if (made == null) {
      made = new DocsPages(contracts, baseUrl(), config.requestsPerMinute(), signals::all);
      pages = made;
    }
    return made;
  }

  EdgeConfig config() {
    return config;
  }

  /** All contracts that are served. */
  public List<Contract> contracts() {
    return contracts;
  }

  Operations operations() {
    return operations;
  }

  Authenticator authenticator() {
    return authenticator;
  }

  SessionGate sessions() {
    return sessions;
  }

  CertificateGate certificates() {
    return certificates;
  }

  Function<Throwable, Optional<ApiError>> translation() {
    return translation;
  }

  EdgeMetrics metrics() {
    return metrics;
  }

  Sources sources() {
    return sources;
  }

  StreamRoom streamRoom() {
    return streamRoom;
  }

  RequestBudgets tokenBudgets() {
    return tokenBudgets;
  }

  /** What counts the requests of tokens instead of {@link #tokenBudgets}; null for nothing. */
  @Nullable SharedBudgets sharedBudgets() {
    return sharedBudgets;
  }

  RequestBudgets addressBudgets() {
    return addressBudgets;
  }

  /** What the connections of all event loops take. */
  Occupancy occupancy() {
    return occupancy;
  }

  /** How proxies tell whose connections are; null where clients connect by themselves. */
  @Nullable ProxyProtocol proxies() {
    return proxies;
  }

  /** Tells of requests that took long. */
  SlowRequests slowRequests() {
    return slowRequests;
  }

  /** Where requests are told to. */
  Traces traces() {
    return traces;
  }

  ClientAddress clientAddress() {
    return clientAddress;
  }
}
