package dev.bourse.contract;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Lazy;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.openapi.contract.OpenAPIContract;
import io.vertx.openapi.contract.Operation;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One OpenAPI 3.1 contract of the jar: {@code openapi/<name>.json}, which the build writes from the
 * YAML of that name ({@link ContractFiles}).
 *
 * <p>Contracts are self-contained: each {@code $ref} points into the same file. Requests are routed
 * and checked by a shorter file that the build derives from it ({@link RoutingModel}).
 */
public final class Contract {
  /** The folder of the routing models, beside the documents. */
  static final String ROUTING = "routing/";

  /** The names of the served contracts, which name their files and addresses. */
  public static final List<String> SERVED =
      List.of(
          "vm",
          "node",
          "k8s",
          "market",
          "billing",
          "org",
          "checkpoints",
          "operator",
          "console",
          "oauth",
          "mcp");

  private static final Lazy<List<Contract>> ALL =
      new Lazy<>(() -> SERVED.stream().map(name -> load(name).prepare()).toList());

  private final String name;
  private final JsonObject routing;
  private final Supplier<Map<String, Object>> source;
  private final OpenAPIContract model;
  private final Map<String, Inputs> inputs = new ConcurrentHashMap<>();
  private volatile @Nullable List<String> faults;

  /**
   * @param routing the result of {@link RoutingModel#document}
   * @param source the whole document
   */
  private Contract(String name, JsonObject routing, Supplier<Map<String, Object>> source) {
    this.name = name;
    this.routing = routing;
    this.source = source;
    this.model = RoutingModel.of(routing);
  }

  /**
   * All contracts that the service serves, prepared; every call returns the same list. Blocks the
   * first time.
   */
  public static List<Contract> served() {
    return ALL.get();
  }

  /**
   * Loads a contract's routing model from the class path. The document itself is read on first use.
   */
  public static Contract load(String name) {
    return new Contract(name, read(ROUTING + name), new Lazy<>(() -> read(name).getMap()));
  }

  /** Reads {@code openapi/<name>.json} of the class path. */
  private static JsonObject read(String name) {
    String resource = "openapi/" + name + ".json";
    try (InputStream in = Contract.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException(resource + " is not on the class path");
      }
      return new JsonObject(Buffer.buffer(in.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + resource + " failed", e);
    }
  }

  /** {@code openapi/<name>.json} of the class path, every {@code $ref} replaced by its target. */
  public static JsonObject resolvedDocument(String name) {
    Map<String, Object> source = read(name).getMap();
    return new JsonObject(References.object(References.resolved(source, source)));
  }

  /** Reads a contract from JSON text. */
  public static Contract parse(String name, String json) {
    Map<String, Object> source = new JsonObject(json).getMap();
    return new Contract(name, RoutingModel.document(source), () -> source);
  }

  /** The contract's name in its file and its address. */
  public String name() {
    return name;
  }

  /** The document as written, {@code $ref}s and all. A copy. Blocks the first time. */
  public JsonObject document() {
    return new JsonObject(source.get()).copy();
  }

  /**
   * Returns a copy of a part of the document with every {@code $ref} replaced by its target. Blocks
   * the first time.
   *
   * @param path the keys that lead to the part
   * @throws IllegalStateException when there is no object at that place
   */
  public JsonObject piece(String... path) {
    Map<String, Object> whole = source.get();
    Object at = whole;
    for (String step : path) {
      at = at instanceof Map ? ((Map<?, ?>) at).get(step) : null;
    }
    return new JsonObject(References.object(References.resolved(at, whole)));
  }

  public OpenAPIContract model() {
    return model;
  }

  /** The ids of the contract's operations. */
  public Set<String> operationIds() {
    return model.operations().stream()
        .map(Operation::getOperationId)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** The contract's paths, as written. */
  public Set<String> paths() {
    return routing.getJsonObject("paths").fieldNames();
  }

  /** The reader of one operation's inputs, created on first use. */
  public Inputs inputs(Operation operation) {
    return inputs.computeIfAbsent(operation.getOperationId(), id -> Inputs.of(operation));
  }

  /**
   * The operations' features that this service cannot serve; empty if it can serve all. Computed
   * once.
   */
  public List<String> faults() {
    List<String> found = faults;
    if (found == null) {
      found =
          model.operations().stream().flatMap(o -> OperationContract.faults(o).stream()).toList();
      faults = found;
    }
    return found;
  }

  /**
   * Computes the faults and, if there are none, the inputs ahead of their first use.
   *
   * @return this
   */
  private Contract prepare() {
    if (faults().isEmpty()) {
      model.operations().forEach(this::inputs);
    }
    return this;
  }

  /** The contract's title. */
  public String title() {
    return routing.getJsonObject("info").getString("title");
  }

  /** The contract's summary, one sentence. */
  public String summary() {
    return routing.getJsonObject("info").getString("summary");
  }

  /** The error codes of the contract; empty if it lists none. */
  Set<String> errorCodes() {
    Set<String> codes = new LinkedHashSet<>();
    routing.getJsonArray(RoutingModel.ERROR_CODES).forEach(code -> codes.add(String.valueOf(code)));
    return codes;
  }

  /** The differences between the error codes of these contracts and {@link ErrorCode}. */
  public static List<String> errorCodeFaults(List<Contract> contracts) {
    List<String> faults = new ArrayList<>();
    Set<String> known = new LinkedHashSet<>();
    for (ErrorCode code : ErrorCode.values()) {
      known.add(code.code());
    }
    for (Contract contract : contracts) {
      Set<String> listed = contract.errorCodes();
      for (String code : listed) {
        if (!known.contains(code)) {
          faults.add("contract " + contract.name + " lists unknown error code " + code);
        }
      }
      for (String code : known) {
        if (!listed.contains(code)) {
          faults.add("contract " + contract.name + " lacks error code " + code);
        }
      }
    }
    return faults;
  }
}
