package dev.bourse.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.AccessStore;
import dev.bourse.access.BearerAuthenticator;
import dev.bourse.access.NodeCredentials;
import dev.bourse.access.Operators;
import dev.bourse.access.Principal;
import dev.bourse.access.Tokens;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.nodes.Machine;
import dev.bourse.store.StoreRefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Worlds seeded into a store that may have some of their rows already. */
class SeedingTest extends StoreFixture {
  private final Random random = new Random(5);

  private static final String KEY =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPAW/rexbj29XVy5aucnFV7Rj3/ndJ/+K9GAbPIUma9L";

  private static final List<String> TABLES =
      List.of("org", "member", "token", "pool", "node", "cluster", "allocation", "activity");

  @Test
  void aSecondStartOfTheSameWorldChangesNothing() throws Exception {
    seed(WorldFileTest.demo());
    List<Long> before = counts();

    JsonObject second = seed(WorldFileTest.demo());

    assertEquals(before, counts());
    assertEquals(new JsonObject(), second.getJsonObject("globex").getJsonObject("tokens"));
  }

  @Test
  void theTokensToldAreTheTokensStored() throws Exception {
    JsonObject told = seed(WorldFileTest.demo());
    Tokens tokens = new Tokens(new AccessStore(database), clock);
    await(tokens.load());
    String bound = told.getJsonObject("globex").getJsonObject("tokens").getString("bound");

    assertEquals(
        "globex-main",
        ((Principal)
                new BearerAuthenticator(
                        tokens,
                        new Operators(new AccessStore(database), clock),
                        memberTokens(tokens),
                        new NodeCredentials())
                    .authenticate("Bearer " + bound))
            .cluster());
  }

  @Test
  void aStaticClusterHoldsItsNodesFromTheStart() throws Exception {
    seed(WorldFileTest.demo());

    assertEquals(
        List.of(2L), integers("SELECT COUNT(*) FROM allocation WHERE cluster = 'acme-legacy'"));
    assertEquals(List.of(16L), integers("SELECT max_gpus FROM cluster WHERE name = 'acme-legacy'"));
  }

  @Test
  void whatIsAddedToAWorldLaterIsMadeAndEachMachineHasAnAddressOfItsOwn() throws Exception {
    seed(world(pool("p", 4), "{name: s1, pool: p, posture: static, held_nodes: 2}"));
    seed(world(pool("p", 8), "{name: s1, pool: p, posture: static, held_nodes: 2}"));
    seed(
        world(
            pool("p", 8) + pool("q", 8),
            "{name: s1, pool: p, posture: static, held_nodes: 2},"
                + " {name: s2, pool: p, posture: static, held_nodes: 3}"));

    assertEquals(List.of(8L), integers("SELECT COUNT(*) FROM node WHERE pool = 'q'"));
    assertEquals(List.of(5L), integers("SELECT COUNT(DISTINCT node_id) FROM allocation"));
    assertEquals(
        integers("SELECT COUNT(*) FROM node"),
        integers("SELECT COUNT(DISTINCT public_ip) FROM node"));
  }

  @Test
  void staticClustersOfTwoOrganizationsShareAPool() throws Exception {
    seed(
        WorldFileTest.read(
            "pools:\n"
                + pool("p", 4)
                + "orgs:\n"
                + "  - {id: a, display: A, clusters: [{name: s1, pool: p, posture: static,"
                + " held_nodes: 2}]}\n"
                + "  - {id: b, display: B, clusters: [{name: s2, pool: p, posture: static,"
                + " held_nodes: 2}]}\n"));

    assertEquals(List.of(4L), integers("SELECT COUNT(DISTINCT node_id) FROM allocation"));
  }

  @Test
  void aStaticClusterThatFindsNoSpareNodesIsRefusedAndNothingIsStored() throws Exception {
    seed(world(pool("p", 2), "{name: s1, pool: p, posture: static, held_nodes: 2}"));
    List<Long> before = counts();

    StoreRefusedException refused =
        fails(
            StoreRefusedException.class,
            prepared(world(pool("p", 2), "{name: s2, pool: p, posture: static, held_nodes: 1}")));

    assertTrue(String.valueOf(refused.getMessage()).contains("s2"), refused.getMessage());
    assertEquals(before, counts());
  }

  @Test
  void aNewNodeAtTheAddressOfAnotherIsRefusedNamingBothAndWhatToDo() throws Exception {
    seed(machines("{id: m1, public_ip: 192.0.2.1, host_key: '" + KEY + "'}"));
    List<Long> before = counts();

    StoreRefusedException refused =
        fails(
            StoreRefusedException.class,
            prepared(
                machines(
                    "{id: m2, public_ip: 192.0.2.1, host_key: '"
                        + KEY
                        + "'},"
                        + " {id: m3, public_ip: 192.0.2.3, host_key: '"
                        + KEY
                        + "'}")));

    assertEquals(
        "node m2: public_ip is '192.0.2.1' in the world file, which node m1 in the"
            + " store has; call it m1 in the file, or retire that node with `bourse admin nodes"
            + " retire m1`",
        refused.getMessage());
    assertEquals(before, counts());
  }

  @Test
  void aNodeThatTheFileDescribesOtherwiseKeepsWhatIsStoredAndTheDifferencesAreNamed()
      throws Exception {
    StoredMachine stored = new StoredMachine("m1", "p", "192.0.2.1", 22, KEY);
    assertEquals(
        List.of(), stored.differences("p", new Machine("m1", "192.0.2.1", 22, KEY + " root@m1")));
    assertEquals(
        List.of(
            "node m1: ssh_port is '2222' in the world file and '22' in the store, which is kept; to"
                + " move the node, retire it with `bourse admin nodes retire m1` and add the"
                + " node again",
            "node m1: host_key is 'ssh-ed25519 AAAA' in the world file and '"
                + KEY
                + "' in the store, which is kept; if the node has this key now, `bourse admin"
                + " nodes replace m1 --host-key 'ssh-ed25519 AAAA'` pins it"),
        stored.differences("p", new Machine("m1", "192.0.2.1", 2222, "ssh-ed25519 AAAA")));

    seed(machines("{id: m1, public_ip: 192.0.2.1, host_key: '" + KEY + "'}"));
    List<Long> before = counts();
    seed(machines("{id: m1, public_ip: 192.0.2.9, host_key: '" + KEY + "'}"));
    assertEquals(before, counts());
    assertEquals(List.of("192.0.2.1"), texts("SELECT public_ip FROM node WHERE pool = 'p'"));
  }

  @Test
  void aNewTokenOfAKnownOrganizationIsMintedAlone() throws Exception {
    seed(WorldFileTest.read("orgs: [{id: a, display: A, tokens: [{name: t1}]}]"));
    JsonObject told =
        seed(WorldFileTest.read("orgs: [{id: a, display: A, tokens: [{name: t1}, {name: t2}]}]"));

    assertEquals(Set.of("t2"), told.getJsonObject("a").getJsonObject("tokens").fieldNames());
    assertNotEquals(null, told.getJsonObject("a").getJsonObject("tokens").getString("t2"));
  }

  private static String pool(String name, int nodes) {
    return "  - {name: "
        + name
        + ", site: s, provider: simulated, gpu_vendor: v, ssh_user: u, simulated_nodes: "
        + nodes
        + "}\n";
  }

  private static WorldFile machines(String list) throws Exception {
    return WorldFileTest.read(
        "pools:\n  - {name: p, site: s, provider: ssh, gpu_vendor: v, ssh_user: u, nodes: ["
            + list
            + "]}\n");
  }

  private static WorldFile world(String pools, String clusters) throws Exception {
    return WorldFileTest.read(
        "pools:\n" + pools + "orgs:\n  - {id: a, display: A, clusters: [" + clusters + "]}\n");
  }

  private Future<Seeding> prepared(WorldFile world) {
    return new Seeding(database, clock, random).prepare(world);
  }

  private JsonObject seed(WorldFile world) throws Exception {
    Seeding seeding = await(prepared(world));
    await(seeding.commit());
    return seeding.keys();
  }

  private List<Long> counts() throws Exception {
    List<Long> counts = new ArrayList<>();
    for (String table : TABLES) {
      counts.addAll(integers("SELECT COUNT(*) FROM " + table));
    }
    return counts;
  }
}
