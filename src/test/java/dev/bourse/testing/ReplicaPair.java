package dev.bourse.testing;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Processes of the demo world that share one PostgreSQL database and nothing else. The first made
 * the world and runs its market.
 */
public final class ReplicaPair implements AutoCloseable {
  /** The demo world's clusters that bid, and whose they are. */
  public static final Map<String, String> CLUSTERS =
      Map.of(
          "acme-train", "acme",
          "acme-batch", "acme",
          "globex-main", "globex",
          "openlab-main", "openlab");

  private static final List<String> SETTINGS =
      List.of(
          "port=0",
          "event-loops=2",
          "market.tick=20ms",
          "market.protection=0",
          "market.notice=0",
          "capacity.write-cadence=0",
          "nodes.simulated.provision-delay=10ms",
          "nodes.simulated.reclaim-delay=10ms",
          "limits.requests-per-minute=0",
          "limits.edge-per-minute=0");

  private final Connection connection;
  private final List<ChildBourse> children = new ArrayList<>();
  private final List<Path> folders = new ArrayList<>();
  private final JsonObject orgs;
  private final String operatorToken;

  /**
   * @param extra settings in the place of the usual ones
   */
  public ReplicaPair(String... extra) throws SQLException {
    String url = SharedPostgres.server().newStore();
    List<String> settings = new ArrayList<>(SETTINGS);
    settings.addAll(TestStore.patience());
    settings.addAll(List.of(extra));
    settings.add("store.url=" + url);
    start(settings);
    connection = SharedPostgres.server().connect(url);
    until("the first has the lease", () -> number("SELECT COUNT(*) FROM lease") == 1);
    start(settings);
    try {
      // Only the process that made the world was told its secrets.
      JsonObject told = new JsonObject(Files.readString(folders.get(0).resolve("demo.json")));
      orgs = told.getJsonObject("orgs");
      operatorToken = told.getString("operator_token");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void start(List<String> settings) {
    Path folder = RunningBourse.newFolder();
    folders.add(folder);
    children.add(new ChildBourse(folder, settings));
  }

  /** The one that runs the market at first. */
  public ChildBourse first() {
    return children.get(0);
  }

  public ChildBourse second() {
    return children.get(1);
  }

  public List<ChildBourse> both() {
    return children;
  }

  /** A cluster as a client of one of the processes sees it. */
  public ClusterClient client(ChildBourse through, String cluster) {
    String org = String.valueOf(CLUSTERS.get(cluster));
    String token = orgs.getJsonObject(org).getJsonObject("tokens").getString("orgwide");
    return new ClusterClient(new ApiClient(through.baseUrl(), token), org, cluster);
  }

  /** A member as a client of one of the processes. */
  public ApiClient member(ChildBourse through, String org, String username) {
    return new ApiClient(
        through.baseUrl(),
        orgs.getJsonObject(org)
            .getJsonObject("members")
            .getJsonObject(username)
            .getString("member_token"));
  }

  /** The operator as a client of one of the processes. */
  public ApiClient operator(ChildBourse through) {
    return new ApiClient(through.baseUrl(), operatorToken);
  }

  /** Registers a key for each organization, and waits until both processes know. */
  public void addKeys() {
    CLUSTERS
        .keySet()
        .forEach(
            cluster -> {
              client(first(), cluster).addKey();
              until(
                  "the second knows a key of " + cluster,
                  () ->
                      client(second(), cluster).put(client(second(), cluster).order(1, 2)).status()
                          == 200);
              until(
                  "and both its write",
                  () -> client(first(), cluster).version() == client(second(), cluster).version());
            });
  }

  /** The one number a query tells. */
  public long number(String sql) {
    return numbers(sql).get(0);
  }

  /** The first column of a query's rows. */
  public synchronized List<Long> numbers(String sql) {
    try (java.sql.Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<Long> numbers = new ArrayList<>();
      while (rows.next()) {
        numbers.add(rows.getLong(1));
      }
      return numbers;
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  public synchronized void execute(String sql) {
    try (java.sql.Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** At no time had a node two holders. */
  public void assertNoNodeWasHeldTwice() {
    assertEquals(
        0,
        number(
            """
            SELECT COUNT(*) FROM allocation a JOIN allocation b
            ON a.node_id = b.node_id AND a.allocation_id < b.allocation_id
            AND a.granted_at < COALESCE(b.gone_at, 1::bigint << 62)
            AND b.granted_at < COALESCE(a.gone_at, 1::bigint << 62)
            """),
        "overlapping allocations");
  }

  @Override
  public void close() throws IOException, SQLException {
    children.forEach(ChildBourse::close);
    connection.close();
    for (Path folder : folders) {
      TestStore.delete(folder);
    }
  }
}
