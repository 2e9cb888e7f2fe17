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
 * What lines of the log tell of the request that they are said for, and where its time went. It
 * goes with the request from its event loop to the store and to a cluster's owner and back, one
 * after the other, so nothing in it is guarded. Where a request has two things done at a time, of
 * what they add one may be lost: figures for a line, not for a bill. When the request is traced,
 * each wait is told its trace, too.
 */
public final class RequestContext {
  static final ContextLocal<RequestContext> LOCAL =
      ContextLocal.registerLocal(RequestContext.class);

  /** Where a request waits. */
  public enum Wait {
    /** For the rest of its body to arrive. */
    BODY("body"),
    /** For the owner of a cluster to begin with its command. */
    OWNER("owner's queue"),
    /** For the store to begin with what it is asked. */
    STORE_QUEUE("store's queue"),
    /** For the store to be done with it. */
    STORE("store"),
    /** For something to happen, as its client asked it to. */
    CHANGE("change");

    private final String span;

    Wait(String span) {
      this.span = span;
    }

    /** How a trace calls it. */
    public String span() {
      return span;
    }
  }

  private final String id;
  private final String traceId;
  private final Span span;
  private final LongSupplier nanos;

  /** Made when it first waits, which most reads never do. */
  private @Nullable Map<Wait, Long> waited;

  private String org = "";
  private String operation = "";

  /**
   * @param traceId of the trace that the client says the request is of; empty for none
   * @param nanos a monotonic clock
   */
  public RequestContext(String id, String traceId, LongSupplier nanos) {
    this(id, traceId, Span.NONE, nanos);
  }

  /**
   * @param traceId as above, for a request that is not traced
   * @param span that tells of the request; whoever answers it ends it
   * @param nanos a monotonic clock
   */
  public RequestContext(String id, String traceId, Span span, LongSupplier nanos) {
    this.id = id;
    this.traceId = span.isTold() ? span.traceId() : traceId;
    this.span = span;
    this.nanos = nanos;
  }

  /** Asks for the place, if that was not done; before a Vert.x is made. */
  static void register() {
    // By then the class is initialised, which asked for it.
    Logs.askFor(RequestContext::current);
  }

  /** The request that the calling thread is at work for; null when it is for none. */
  public static @Nullable RequestContext current() {
    Context context = Vertx.currentContext();
    return context == null ? null : LOCAL.get(context);
  }

  /** The request that a context was made for; null when it was for none. */
  public static @Nullable RequestContext of(Context context) {
    return LOCAL.get(context);
  }

  /** Goes with what runs on the context from now on. One request's own context only. */
  public void enter(Context context) {
    LOCAL.put(context, this);
  }

  /**
   * A context of the same event loop on which what runs is for the request of the calling thread;
   * the context itself when that is at work for none.
   */
  public static ContextInternal carriedTo(Context home) {
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
   * Asks somebody else, and tells the trace of the calling thread's request, if it has one, how
   * long that took.
   *
   * @param name of the span, written in the code
   */
  public static <T> Future<T> calling(String name, Supplier<Future<T>> call) {
    Span asking = currentSpan().child(name, Span.Kind.CLIENT);
    return asking.isTold() ? call.get().onComplete(done -> asking.end(done.cause())) : call.get();
  }

  /**
   * Tells of the request that the calling thread is at work for; {@link Span#NONE} when it is for
   * none, or for one that is not traced.
   */
  public static Span currentSpan() {
    RequestContext request = current();
    return request == null ? Span.NONE : request.span;
  }

  /** Names this request, in the log and to its client. */
  public String id() {
    return id;
  }

  /** It is known what is asked for. */
  public void isOperation(String operationId) {
    operation = operationId;
  }

  /** It is known for whom; an operator asks for no organization. */
  public void isOf(String orgId) {
    org = orgId;
  }

  /** Tells of the request; {@link Span#NONE} when it is not traced. */
  public Span span() {
    return span;
  }

  /** Of whom it is; empty while that is not known, and for an operator's. */
  public String org() {
    return org;
  }

  /** The present, for {@link #waited}. */
  public long nanos() {
    return nanos.getAsLong();
  }

  /** It waited since then. */
  public void waited(Wait where, long sinceNanos) {
    waited(where, sinceNanos, nanos());
  }

  /** It waited from then to then. */
  public void waited(Wait where, long sinceNanos, long untilNanos) {
    span.passed(where.span, sinceNanos, untilNanos);
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

  /** How long it waited in all, in milliseconds. */
  public long waitedMillis(Wait where) {
    Map<Wait, Long> lengths = waited;
    return lengths == null ? 0 : TimeUnit.NANOSECONDS.toMillis(lengths.getOrDefault(where, 0L));
  }

  /** Each thing that is known, by its name in the log. */
  void each(BiConsumer<String, String> field) {
    field.accept("request_id", id);
    tell(field, "trace_id", traceId);
    tell(field, "org", org);
    tell(field, "operation", operation);
  }

  private static void tell(BiConsumer<String, String> field, String name, String value) {
    if (!value.isEmpty()) {
      field.accept(name, value);
    }
  }
}
