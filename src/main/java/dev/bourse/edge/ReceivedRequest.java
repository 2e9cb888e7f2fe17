package dev.bourse.edge;

import dev.bourse.access.Authenticator;
import dev.bourse.access.Caller;
import dev.bourse.access.NodeAgent;
import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.access.SessionAuthenticator.SignedIn;
import dev.bourse.blob.ByteSource;
import dev.bourse.contract.OperationContract;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.limits.OpenConnection;
import dev.bourse.logs.RequestContext;
import io.github.bucket4j.ConsumptionProbe;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The parsed request, as the operation receives it. {@link RequestPipeline} fills it in step by
 * step, on the event loop of its connection.
 */
final class ReceivedRequest implements Call {
  /** The contracts' name of the cluster that an operation is about. */
  private static final String CLUSTER = "cluster";

  /** Names of the cluster in paths and queries; the second is used by the Kubernetes API. */
  private static final List<String> CLUSTER_PARAMETERS = List.of(CLUSTER, "name");

  private final HttpServerRequest request;
  private final LoopContext loop;
  private final OpenConnection connection;
  private final RequestContext requestContext;
  private @Nullable Caller caller;
  private @Nullable SignedIn session;
  private @Nullable ConsumptionProbe budget;
  private @Nullable ConsumptionProbe ofNode;
  private String mediaType = OperationContract.JSON;
  private Map<String, Object> parameters = Map.of();
  private @Nullable JsonObject body;
  private @Nullable InboundBody inbound;
  private boolean unread;
  private boolean isGone;
  private Runnable departure = () -> {};

  ReceivedRequest(
      HttpServerRequest request,
      LoopContext loop,
      OpenConnection connection,
      RequestContext requestContext) {
    this.request = request;
    this.requestContext = requestContext;
    this.loop = loop;
    this.connection = connection;
    this.unread = announcesBody(request);
  }

  private static boolean announcesBody(HttpServerRequest request) {
    MultiMap headers = request.headers();
    String length = headers.get(HttpHeaders.CONTENT_LENGTH);
    return length == null ? headers.contains(HttpHeaders.TRANSFER_ENCODING) : !length.equals("0");
  }

  /** Rejects an API token without the client certificate that it requires. */
  void passCertificateGate(@Nullable String authorization) {
    loop.edge().certificates().pass(connection, authorization);
  }

  @Override
  public void requireCertificate() {
    loop.edge().certificates().passAgent(connection);
  }

  /**
   * Spends the budget of the held node whose valid credential the request has, and returns whether
   * the node had a request left. Such a request does not count for the client's address, because
   * thousands of nodes may share one; one beyond the node's budget does, like everybody else's.
   */
  boolean spendOfNode() {
    ofNode =
        loop.edge()
            .authenticator()
            .findNode(authorization())
            .map(node -> loop.edge().nodeBudgets().spend(node.budgetKey()))
            .orElse(null);
    return ofNode != null && ofNode.isConsumed();
  }

  /** Returns the rest of the node's budget; null if no held node calls. */
  @Nullable ConsumptionProbe ofNode() {
    return ofNode;
  }

  /** Returns whether a part of the body is unread. */
  boolean hasUnread() {
    return unread;
  }

  /**
   * Sets the authenticated caller.
   *
   * @param with the caller's session; null if the caller used a token
   * @param left the rest of the caller's budget; null if there is no budget
   */
  void admit(Caller admitted, @Nullable SignedIn with, @Nullable ConsumptionProbe left) {
    caller = admitted;
    if (admitted instanceof Principal principal) {
      requestContext.setOrg(principal.org().orgId());
    }
    session = with;
    budget = left;
    requestContext.setStanding(
        with == null
            ? new TokenStanding(admitted.actor(), loop.edge().authenticator(), authorization())
            : new SessionStanding(
                with.id(),
                admitted.actor(),
                loop.edge().sessions()::listInForce,
                requestContext::nanos));
  }

  private @Nullable String authorization() {
    return request.getHeader(HttpHeaders.AUTHORIZATION);
  }

  /** Whether the token of a request is still valid. */
  private record TokenStanding(
      String actor, Authenticator authenticator, @Nullable String authorization)
      implements RequestContext.Standing {
    @Override
    public Future<Void> confirm(long sinceNanos) {
      return authenticator.confirm(authorization, sinceNanos);
    }
  }

  /** Returns the caller's session; null if the caller used a token. */
  @Nullable SignedIn session() {
    return session;
  }

  /** Returns whether a member calls, in person or through an application. */
  boolean isMembers() {
    return caller instanceof Principal principal && principal.member() != null;
  }

  /** Returns the caller of an operation that takes a credential. */
  Caller caller() {
    return Objects.requireNonNull(caller, "the operation takes no credential");
  }

  /** Returns the rest of the caller's budget; null if there is no budget. */
  @Nullable ConsumptionProbe budget() {
    return budget;
  }

  void negotiated(String chosen) {
    mediaType = chosen;
  }

  void input(Map<String, Object> read, @Nullable JsonObject sent) {
    parameters = read;
    body = sent;
  }

  /**
   * Collects the body, then continues with it; rejects one that is too long.
   *
   * @param isDone returns whether the request is answered, after which nothing happens
   */
  void readBody(
      int maxBytes, BooleanSupplier isDone, Consumer<ApiException> refuse, Consumer<byte[]> then) {
    Buffer collected = Buffer.buffer();
    connection.bodyBegins();
    long begun = requestContext.nanos();
    request.handler(
        piece -> {
          if (isDone.getAsBoolean()) {
            return;
          }
          if (collected.length() + piece.length() > maxBytes) {
            refuse.accept(tooLarge(maxBytes));
            return;
          }
          try {
            loop.connections().reserveBody(connection, piece.length());
          } catch (ApiException noRoom) {
            refuse.accept(noRoom);
            return;
          }
          connection.bodyGrows(piece.length());
          collected.appendBuffer(piece);
        });
    request.endHandler(
        end -> {
          unread = false;
          if (!isDone.getAsBoolean()) {
            connection.bodyEnds();
            requestContext.recordWait(RequestContext.Wait.BODY, begun);
            then.accept(collected.getBytes());
          }
        });
  }

  static ApiException tooLarge(int maxBytes) {
    return ApiException.of(ErrorCode.TOO_LARGE, "the body is over " + maxBytes + " bytes");
  }

  /** Prepares a body of bytes, which the operation reads when it is ready. */
  void expectBytes() {
    inbound =
        new InboundBody(
            request,
            loop,
            connection,
            caller == null ? clientKey() : caller.owner(),
            () -> unread = false);
  }

  /** Returns whether the body is bytes that wait for the operation to read them. */
  boolean awaitsBytes() {
    return inbound != null;
  }

  /** Ends the body early. */
  void breakOff() {
    if (inbound != null) {
      inbound.broken();
    }
  }

  /** Records that the client disconnected before the response. */
  void gone() {
    isGone = true;
    departure.run();
  }

  @Override
  public void ifGone(Runnable action) {
    departure = action;
    if (isGone) {
      action.run();
    }
  }

  @Override
  public Principal principal() {
    if (caller instanceof Principal principal) {
      return principal;
    }
    throw new IllegalStateException("this operation does not demand " + Principal.SCHEME);
  }

  @Override
  public Operator operator() {
    if (caller instanceof Operator operator) {
      return operator;
    }
    throw new IllegalStateException("this operation does not demand " + Operator.SCHEME);
  }

  @Override
  public NodeAgent node() {
    return caller instanceof NodeAgent node ? node : Call.super.node();
  }

  @Override
  public ByteSource bytes() {
    return inbound();
  }

  @Override
  public Future<byte[]> readJson(int maxBytes) {
    return inbound().readJson(maxBytes);
  }

  private InboundBody inbound() {
    if (inbound == null) {
      throw new IllegalStateException("this operation takes no bytes");
    }
    return inbound;
  }

  @Override
  public Optional<String> header(String name) {
    return Optional.ofNullable(request.getHeader(name));
  }

  @Override
  public Optional<String> cookie(String name) {
    return Cookies.find(request.headers(), name);
  }

  @Override
  public String target() {
    String query = request.query();
    return query == null ? request.path() : request.path() + '?' + query;
  }

  @Override
  public String clientKey() {
    return loop.clientKey(connection, request);
  }

  @Override
  public String mediaType() {
    return mediaType;
  }

  @Override
  public Optional<String> findText(String parameter) {
    return Optional.ofNullable((String) parameters.get(parameter));
  }

  /** Returns the names of clusters that the request may be about. */
  List<String> clusters() {
    List<String> names = new ArrayList<>(1);
    for (String parameter : CLUSTER_PARAMETERS) {
      if (parameters.get(parameter) instanceof String name) {
        names.add(name);
      }
    }
    if (body != null && body.getValue(CLUSTER) instanceof String name) {
      names.add(name);
    }
    if (caller instanceof Principal principal && principal.cluster() != null) {
      names.add(principal.cluster());
    }
    return names;
  }

  @Override
  public Optional<Long> findInteger(String parameter) {
    return Optional.ofNullable((Long) parameters.get(parameter));
  }

  @Override
  public Optional<Double> findNumber(String parameter) {
    return Optional.ofNullable((Double) parameters.get(parameter));
  }

  @Override
  public JsonObject body() {
    if (body == null) {
      throw new IllegalStateException("this operation takes no body");
    }
    return body;
  }
}
