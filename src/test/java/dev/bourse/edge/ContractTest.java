package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.contract.Contract;
import dev.bourse.contract.RoutingModel;
import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.OutputUnit;
import io.vertx.openapi.contract.OpenAPIContract;
import io.vertx.openapi.contract.OpenAPIVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contracts, and the start's check that the service matches them. */
class ContractTest {
  private static Edge edge(List<Contract> contracts, Operations operations) {
    return new Edge(
        EdgeFixture.unlimited(),
        contracts,
        operations,
        EdgeFixture.authenticator(),
        failure -> Optional.empty(),
        new Signals(),
        Sources.system());
  }

  private static Operations bound(List<String> ids) {
    Operations operations = new Operations();
    ids.forEach(id -> operations.bind(id, call -> Future.failedFuture("never called")));
    return operations;
  }

  @Test
  void everyContractIsValidOpenApi31() {
    Vertx vertx = Vertx.vertx();
    try {
      for (Contract contract : EdgeFixture.contracts()) {
        JsonObject document = new JsonObject(contract.document().encode());
        OutputUnit outcome =
            OpenAPIVersion.V3_1
                .getRepository(vertx, "app://")
                .compose(schemas -> OpenAPIVersion.V3_1.validateContract(vertx, schemas, document))
                .await();
        assertEquals(true, outcome.getValid(), contract.name());
        OpenAPIContract checked =
            OpenAPIContract.from(
                    vertx,
                    RoutingModel.document(new JsonObject(contract.document().encode()).getMap()))
                .await();
        assertEquals(contract.model().operations().size(), checked.operations().size());
      }
    } finally {
      vertx.close().await();
    }
  }

  @Test
  void everyFaultIsListedAtOnce() {
    List<String> ids = new ArrayList<>(EdgeFixture.OPERATION_IDS);
    ids.remove("whoami");
    ids.remove("swapNode");
    ids.add("dance");
    List<Contract> contracts =
        List.of(
            Contract.load("vm"),
            Contract.load("k8s"),
            Contract.load("org"),
            Contract.parse(
                "checkpoints",
                changed(
                    "checkpoints",
                    "\"memberToken\":[\"checkpoints:write\"]",
                    "\"memberToken\":[]")),
            Contract.load("operator"),
            Contract.load("console"),
            Contract.load("oauth"),
            Contract.parse(
                "market", changed("market", "\"apiToken\":[]", "\"apiToken\":[\"sing\"]")));
    IllegalStateException refusal =
        assertThrows(IllegalStateException.class, () -> edge(contracts, bound(ids)));
    for (String fault :
        List.of(
            "operation whoami of contract org has no handler",
            "operation swapNode of contract vm has no handler",
            "handler dance has no operation in any contract",
            "operation publishCheckpoint takes memberToken and names no scope",
            "operation deleteCheckpoint takes memberToken and names no scope",
            "operation readMarketFeed demands unknown scope sing")) {
      assertTrue(String.valueOf(refusal.getMessage()).contains(fault), refusal.getMessage());
    }
  }

  @Test
  void errorCodesMustBeTheSameOnBothSides() {
    List<Contract> contracts =
        Contract.SERVED.stream()
            .map(
                name ->
                    name.equals("vm")
                        ? Contract.parse(name, changed(name, "\"no-ssh-keys\"", "\"no-ssh-kees\""))
                        : Contract.load(name))
            .toList();
    IllegalStateException refusal =
        assertThrows(
            IllegalStateException.class, () -> edge(contracts, bound(EdgeFixture.OPERATION_IDS)));
    String message = String.valueOf(refusal.getMessage());
    assertTrue(message.contains("contract vm lists unknown error code no-ssh-kees"), message);
    assertTrue(message.contains("contract vm lacks error code no-ssh-keys"), message);
  }

  @Test
  void capacityReadsAndWritesNeedTheirScopes() {
    JsonObject capacity =
        Contract.load("vm").document().getJsonObject("paths").getJsonObject("/api/vm/capacity");
    assertEquals(Scope.CAPACITY_READ.label(), scope(capacity, "get"));
    assertEquals(Scope.CAPACITY_WRITE.label(), scope(capacity, "put"));
  }

  private static String scope(JsonObject path, String method) {
    return path.getJsonObject(method)
        .getJsonArray("security")
        .getJsonObject(0)
        .getJsonArray("apiToken")
        .getString(0);
  }

  private static String changed(String name, String from, String to) {
    try (java.io.InputStream in =
        ContractTest.class.getClassLoader().getResourceAsStream("openapi/" + name + ".json")) {
      assertTrue(in != null);
      String json = new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
      assertTrue(json.contains(from), from);
      return json.replace(from, to);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
