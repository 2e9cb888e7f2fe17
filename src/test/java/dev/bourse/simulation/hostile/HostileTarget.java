package dev.bourse.simulation.hostile;

import dev.bourse.access.Operator;
import dev.bourse.testing.ContractCheck;
import dev.bourse.testing.IdentityProvider;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.StatementPlans;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The demo world, and an accepted request for each operation of each contract. */
final class HostileTarget implements Target, AutoCloseable {
  /**
   * The state that a rejected request must not change. Excluded are changes in the background
   * (ticks, leases, clocks, the trail of reads) and the effects of rejections: a code or a refresh
   * token that is used twice ends its family, and rejected bytes may end their upload.
   */
  private static final Map<String, String> KEPT =
      Map.ofEntries(
          Map.entry("org", "*"),
          Map.entry("member", "org_id, username, email, name, suspended_at"),
          Map.entry("token", "token_id, revoked_at"),
          Map.entry("pool", "*"),
          Map.entry("cluster", "name, org_id, kind, posture, writes_armed, maintenance, version"),
          Map.entry("ssh_key", "*"),
          Map.entry("switch", "*"),
          Map.entry("join_rule", "*"),
          Map.entry("operator_token", "token_id, revoked_at"),
          Map.entry("checkpoint", "item_id, visibility, draft_revision, head_revision"),
          Map.entry("checkpoint_usage", "*"),
          Map.entry("oauth_client", "client_id"),
          Map.entry("ledger_transaction", "COUNT(*)"),
          Map.entry("audit", "COUNT(*)"));

  private final IdentityProvider provider = new IdentityProvider();
  private final RunningBourse bourse;
  private final Connection store;
  private final Map<String, AttackedOperation> operations = new TreeMap<>();
  private final Map<String, Supplier<AcceptedRequest>> samples = new LinkedHashMap<>();
  private int made;

  HostileTarget() {
    List<String> settings =
        new java.util.ArrayList<>(
            List.of(
                "market.tick=200ms",
                "secret.key=" + "ab".repeat(32),
                "webhooks.private-hosts=localhost",
                // Each request comes from an address of its own, so that none is throttled.
                "proxies=127.0.0.1",
                "signin.mails-per-email=1000000",
                "checkpoints.sweep-interval=1h",
                "audit.seal-interval=1h"));
    settings.addAll(List.of(provider.settings()));
    settings.add("signin.tries-per-address=1000000");
    bourse = RunningBourse.demo(settings.toArray(String[]::new));
    AttackedOperation.all().forEach(operation -> operations.put(operation.id(), operation));
    try {
      String url = bourse.storeUrl();
      store =
          url.equals("sqlite")
              ? DriverManager.getConnection("jdbc:sqlite:" + bourse.data().resolve("bourse.db"))
              : StatementPlans.connect(url);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
    new TenantSamples(this).add();
    new OperatorSamples(this).add();
    new MemberSamples(this).add();
    new ClusterSamples(this).add();
    new OrganizationSamples(this).add();
  }

  RunningBourse bourse() {
    return bourse;
  }

  IdentityProvider provider() {
    return provider;
  }

  /** Returns an unused name. */
  String fresh(String prefix) {
    return prefix + '-' + ++made;
  }

  /** Adds a sample of an operation, with the credential it takes. */
  void add(String operationId, UnaryOperator<AcceptedRequest> complete) {
    add(operationId, operationId, complete);
  }

  void add(String name, String operationId, UnaryOperator<AcceptedRequest> complete) {
    samples.put(name, () -> complete.apply(begun(operationId)));
  }

  /** Adds a sample with a credential of its own, such as a browser's cookie. */
  void addBare(String operationId, UnaryOperator<AcceptedRequest> complete) {
    samples.put(operationId, () -> complete.apply(bare(operationId)));
  }

  private AcceptedRequest bare(String operationId) {
    return AcceptedRequest.of(
        java.util.Objects.requireNonNull(operations.get(operationId), operationId));
  }

  private AcceptedRequest begun(String operationId) {
    ContractCheck.Described described =
        ContractCheck.operations().stream()
            .filter(one -> one.operationId().equals(operationId))
            .findFirst()
            .orElseThrow();
    AcceptedRequest sample = bare(operationId);
    if (described.schemes().contains(Operator.SCHEME)) {
      return bearing(sample, bourse.operatorToken());
    }
    return described.schemes().isEmpty()
        ? sample
        : bearing(sample, bourse.secret("acme", "orgwide"));
  }

  static AcceptedRequest bearing(AcceptedRequest sample, String token) {
    return sample.header("Authorization", "Bearer " + token);
  }

  @Override
  public int port() {
    return URI.create(bourse.service().baseUrl()).getPort();
  }

  @Override
  public Map<String, Supplier<AcceptedRequest>> samples() {
    return samples;
  }

  /** Returns the operations without a sample. */
  Set<String> missing() {
    Set<String> missing = new TreeSet<>(operations.keySet());
    samples.keySet().forEach(name -> missing.remove(name.replaceAll("/.*", "")));
    return missing;
  }

  @Override
  public void judge(String method, String target, int status, @Nullable String json) {
    ContractCheck.check(method, target, status, json == null ? null : new JsonObject(json));
  }

  @Override
  public Map<String, String> stored() throws IOException {
    Map<String, String> all = new TreeMap<>();
    try {
      for (Map.Entry<String, String> kept : KEPT.entrySet()) {
        String where = kept.getKey().equals("audit") ? " WHERE is_read = 0" : "";
        all.put(
            kept.getKey(), rows("SELECT " + kept.getValue() + " FROM " + kept.getKey() + where));
      }
    } catch (SQLException e) {
      throw new IOException(e);
    }
    return all;
  }

  private String rows(String sql) throws SQLException {
    TreeSet<String> rows = new TreeSet<>();
    try (PreparedStatement select = store.prepareStatement(sql);
        ResultSet found = select.executeQuery()) {
      int columns = found.getMetaData().getColumnCount();
      while (found.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= columns; i++) {
          row.append(found.getString(i)).append('|');
        }
        rows.add(row.toString());
      }
    }
    return rows.size() + " " + rows.hashCode();
  }

  @Override
  public void close() {
    try {
      store.close();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
    bourse.close();
    provider.close();
  }
}
