package dev.bourse.edge;

import dev.bourse.access.Authenticator;
import dev.bourse.access.Caller;
import dev.bourse.access.NodeAgent;
import dev.bourse.contract.Contract;
import dev.bourse.contract.MarkedPaths;
import dev.bourse.contract.OperationContract;
import dev.bourse.core.ApiException;
import dev.bourse.docs.DocsPages;
import dev.bourse.docs.Skill;
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
 * The parts of the API that all its event loops share. Deploy {@link #verticle} once per event
 * loop; the instances share the port.
 */
public final class Edge {
  private final EdgeConfig config;
  private final List<Contract> contracts;
  private final Operations operations;
  private final Authenticator authenticator;
  private final Function<Throwable, Optional<ApiException>> translation;
  private final Signals signals;
  private final EdgeMetrics metrics;
  private final Sources sources;
  private final SessionGate sessions;
  private final CertificateGate certificates;

  /**
   * The requests a minute of one node, which needs five to report and to wait for notices. They are
   * not counted for the client's address, because thousands of nodes may share one.
   */
  static final int NODE_PER_MINUTE = 60;

  private final RequestBudgets tokenBudgets;
  private final RequestBudgets nodeBudgets;
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
   * Assembles an API and checks that its parts match.
   *
   * @param contracts the served contracts
   * @param operations a handler for each of their operations
   * @param authenticator authenticates callers
   * @param translation maps exceptions of other packages to API errors; unmapped ones are answered
   *     500 and logged
   * @param signals receives the metrics of requests
   * @param sources supply time and randomness
   * @throws IllegalStateException listing every operation without a handler, handler without an
   *     operation, unknown scope, unserved feature and error code that contracts and service do not
   *     share
   */
  public Edge(
      EdgeConfig config,
      List<Contract> contracts,
      Operations operations,
      Authenticator authenticator,
      Function<Throwable, Optional<ApiException>> translation,
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
   * Assembles an API with shared budgets and traces.
   *
   * @param sharedBudgets token budgets shared with other processes; null if this process counts for
   *     itself; the caller closes them after the API
   * @param traces receive the requests; the caller closes them too
   * @throws IllegalStateException as in the other constructor
   */
  public Edge(
      EdgeConfig config,
      List<Contract> contracts,
      Operations operations,
      Authenticator authenticator,
      Function<Throwable, Optional<ApiException>> translation,
      Signals signals,
      Sources sources,
      @Nullable SharedBudgets sharedBudgets,
      Traces traces) {
    List<String> faults = faults(contracts, operations);
    if (!faults.isEmpty()) {
      throw new IllegalStateException(
          "the contracts and the service do not match:\n  " + String.join("\n  ", faults));
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
    int ofNode = perMinute == 0 ? NODE_PER_MINUTE : Math.min(perMinute, NODE_PER_MINUTE);
    this.nodeBudgets = new RequestBudgets(ofNode, ofNode, "token", "budget", sources.nanos());
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
    metrics.registerMetrics(signals, occupancy, streamRoom);
    metrics.registerProxyMetrics(signals, proxies);
    metrics.registerCertificateMetrics(signals, renewal);
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

  /** Returns a served contract; empty if there is none with that name. */
  public Optional<Contract> findContract(String name) {
    return contracts.stream().filter(contract -> contract.name().equals(name)).findFirst();
  }

  /**
   * Returns the contract or text that a {@code GET} of this path returns to any caller; empty for
   * other paths. It is made on a worker, because its first caller waits for it.
   */
  public Future<Optional<String>> findText(Vertx vertx, String path) {
    if (!pages().has(path)) {
      return Future.succeededFuture(Optional.empty());
    }
    return vertx.executeBlocking(() -> pages().get(path).text());
  }

  /** The skills for agents; made on a worker, like {@link #findText}. */
  public Future<List<Skill>> skills(Vertx vertx) {
    return vertx.executeBlocking(() -> pages().skills());
  }

  /** Returns a dispatcher of these contracts' read operations. */
  public Dispatcher dispatcher(Set<String> contractNames) {
    return new Dispatcher(
        contracts.stream().filter(contract -> contractNames.contains(contract.name())).toList(),
        operations,
        metrics);
  }

  /**
   * Prepares to stop: closes the listening sockets. Requests on open connections are still
   * answered; each response has {@code Connection: close} and closes its connection.
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

  /** Returns a new instance of the server, for one event loop. */
  public Verticle verticle() {
    return new EdgeVerticle(this);
  }

  /** Returns the port in use; 0 before the first instance listens. */
  public int actualPort() {
    return actualPort;
  }

  /**
   * Returns the service's public address; unless configured, it is known after the service listens.
   */
  public String baseUrl() {
    return config.baseUrl().isEmpty()
        ? (isSecure() ? "https" : "http") + "://localhost:" + actualPort
        : config.baseUrl();
  }

  /** Returns whether the service itself speaks TLS. */
  boolean isSecure() {
    return renewal != null;
  }

  /** Returns the certificate in use and the rules for clients' certificates; null without TLS. */
  @Nullable Renewal renewal() {
    return renewal;
  }

  /** Returns the counter of connections during their TLS handshakes. */
  CountedHandshakes handshakes() {
    return handshakes;
  }

  void listening(HttpServer listening) {
    server = listening;
    actualPort = listening.actualPort();
  }

  /**
   * Checks on a worker whether the files of the certificate or of clients' authorities have
   * changed, and uses the new ones for new connections. Open connections keep the old ones.
   *
   * @return whether they had changed
   */
  public Future<Boolean> renewCertificate(Vertx vertx) {
    Renewal renewing = renewal;
    return renewing == null
        ? Future.succeededFuture(false)
        : TlsPort.renew(vertx, renewing, Objects.requireNonNull(server, "it does not listen yet"));
  }

  /** Returns the pages, which are made on first use because they contain the service's address. */
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

  /** Returns all served contracts. */
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

  Function<Throwable, Optional<ApiException>> translation() {
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

  RequestBudgets nodeBudgets() {
    return nodeBudgets;
  }

  /** Returns the budgets of this kind of caller. */
  RequestBudgets budgets(Caller caller) {
    return caller instanceof NodeAgent ? nodeBudgets : tokenBudgets;
  }

  /** Returns the shared counter that replaces {@link #tokenBudgets}; null if there is none. */
  @Nullable SharedBudgets sharedBudgets() {
    return sharedBudgets;
  }

  RequestBudgets addressBudgets() {
    return addressBudgets;
  }

  /** Returns the resources in use by the connections of all event loops. */
  Occupancy occupancy() {
    return occupancy;
  }

  /** Returns the PROXY protocol settings; null if clients connect directly. */
  @Nullable ProxyProtocol proxies() {
    return proxies;
  }

  /** Returns the log of slow requests. */
  SlowRequests slowRequests() {
    return slowRequests;
  }

  /** Returns the receiver of traces. */
  Traces traces() {
    return traces;
  }

  ClientAddress clientAddress() {
    return clientAddress;
  }
}
