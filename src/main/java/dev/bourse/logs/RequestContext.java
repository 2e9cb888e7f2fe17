package dev.bourse.logs;

import dev.bourse.traces.Span;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.spi.context.storage.ContextLocal;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The log fields of a request and the breakdown of its time. It follows the request from its event
 * loop to the store and to a cluster's owner and back, one after the other, so it needs no lock. If
 * a request has two operations in flight at a time, one of their additions may be lost; the figures
 * are for a log line, not for a bill. For a traced request, each wait is also a span.
 */
public final class RequestContext {
  static final ContextLocal<RequestContext> LOCAL =
      ContextLocal.registerLocal(RequestContext.class);

  /** A place where a request waits. */
  public enum Wait {
    /** For the rest of its body. */
    BODY("body"),
    /** For a cluster's owner to start its command. */
    OWNER("owner's queue"),
    /** For the store to start its statement. */
    STORE_QUEUE("store's queue"),
    /** For the store to finish its statement. */
    STORE("store"),
    /** For a change that its client waits for. */
    CHANGE("change");

    private final String span;

    Wait(String span) {
      this.span = span;
    }

    /** The name of the span. */
    public String span() {
      return span;
    }
  }

  /** The caller of a request; the caller's rights are checked again before a write is stored. */
  public interface Standing {
    /** The name of the caller in the trail. */
    String actor();

    /**
     * Fails if the caller was revoked, as a request of the caller would now, and with {@code
     * overloaded} if revocations until the given moment are not all known. Called on any thread.
     *
     * @param sinceNanos the moment, by the monotonic clock, up to which revocations must be known
     */
    Future<Void> confirm(long sinceNanos);
  }

  private final String id;
  private final String traceId;
  private final Span span;
  private final LongSupplier nanos;

  /** Created at the first wait, because most reads never wait. */
  private @Nullable Map<Wait, Long> waited;

  private String org = "";
  private String operation = "";
  private @Nullable Standing standing;

  /**
   * @param traceId of the client's trace; empty if the client sent none
   * @param nanos a monotonic clock
   */
  public RequestContext(String id, String traceId, LongSupplier nanos) {
    this(id, traceId, Span.NONE, nanos);
  }

  /**
   * @param traceId of the client's trace, used if the request is not traced here
   * @param span the request's span; the answering code ends it
   * @param nanos a monotonic clock
   */
  public RequestContext(String id, String traceId, Span span, LongSupplier nanos) {
    this.id = id;
    this.traceId = span.isRecorded() ? span.traceId() : traceId;
    this.span = span;
    this.nanos = nanos;
  }

  /** Registers the context key, if that is not done yet; must run before a Vert.x is created. */
  static void register() {
    // The class is initialized at this point, which registers the key.
    Logs.setRequestLookup(RequestContext::current);
  }

  /** Returns the request that the calling thread works for; null if there is none. */
  public static @Nullable RequestContext current() {
    Context context = Vertx.currentContext();
    return context == null ? null : LOCAL.get(context);
  }

  /** Returns the request that a context was created for; null if there is none. */
  public static @Nullable RequestContext of(Context context) {
    return LOCAL.get(context);
  }

  /**
   * Attaches the request to everything that runs on the context; only for a context of this request
   * alone.
   */
  public void enter(Context context) {
    LOCAL.put(context, this);
  }

  /**
   * Returns a context on the same event loop that carries the calling thread's request; the given
   * context if there is no request.
   */
  public static ContextInternal contextFor(Context home) {
    RequestContext request = current();
    ContextInternal context = (ContextInternal) home;
    if (request == null) {
      return context;
    }
    ContextInternal own = context.duplicate();
    request.enter(own);
    return own;
  }

  /**
   * Runs a call to another service and records its duration as a span, if the calling thread's
   * request is traced.
   *
   * @param name of the span, a constant of the code
   */
  public static <T> Future<T> traceCall(String name, Supplier<Future<T>> call) {
    Span asking = currentSpan().child(name, Span.Kind.CLIENT);
    return asking.isRecorded()
        ? call.get().onComplete(done -> asking.end(done.cause()))
        : call.get();
  }

  /**
   * Returns the span of the calling thread's request; {@link Span#NONE} if there is no request or
   * it is not traced.
   */
  public static Span currentSpan() {
    RequestContext request = current();
    return request == null ? Span.NONE : request.span;
  }

  /** Returns the request's id in the log and in the answer. */
  public String id() {
    return id;
  }

  /** Sets the operation, once routing has found it. */
  public void setOperation(String operationId) {
    operation = operationId;
  }

  /** Sets the caller, once it is known. */
  public void setStanding(Standing caller) {
    standing = caller;
  }

  /** Returns the caller; null while it is unknown, and for an operation that anybody may call. */
  public @Nullable Standing standing() {
    return standing;
  }

  /** Sets the organization, once the caller is known; an operator's request has none. */
  public void setOrg(String orgId) {
    org = orgId;
  }

  /** Returns the span; {@link Span#NONE} if the request is not traced. */
  public Span span() {
    return span;
  }

  /** Returns the organization; empty for an operator, or while the caller is not known. */
  public String org() {
    return org;
  }

  /** Returns the current time of the monotonic clock, for {@link #recordWait}. */
  public long nanos() {
    return nanos.getAsLong();
  }

  /** Records a wait that ends now. */
  public void recordWait(Wait where, long sinceNanos) {
    recordWait(where, sinceNanos, nanos());
  }

  /** Records a wait. */
  public void recordWait(Wait where, long sinceNanos, long untilNanos) {
    span.addCompletedChild(where.span, sinceNanos, untilNanos);
    add(where, untilNanos - sinceNanos);
  }

  private void add(Wait where, long lengthNanos) {
    Map<Wait, Long> lengths = waited;
    if (lengths == null) {
      lengths = new EnumMap<>(Wait.class);
      waited = lengths;
    }
    lengths.merge(where, Math.max(0, lengthNanos), Long::sum);
  }

  /** Returns the sum of the waits at one place, in milliseconds. */
  public long waitedMillis(Wait where) {
    Map<Wait, Long> lengths = waited;
    return lengths == null ? 0 : TimeUnit.NANOSECONDS.toMillis(lengths.getOrDefault(where, 0L));
  }

  /** Passes each known field by its name in the log. */
  void each(BiConsumer<String, String> field) {
    field.accept("request_id", id);
    putIfPresent(field, "trace_id", traceId);
    putIfPresent(field, "org", org);
    putIfPresent(field, "operation", operation);
  }

  private static void putIfPresent(BiConsumer<String, String> field, String name, String value) {
    if (!value.isEmpty()) {
      field.accept(name, value);
    }
  }
}
