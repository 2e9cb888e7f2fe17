package dev.bourse.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.capacity.Cluster;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** World files. */
class WorldFileTest {
  static WorldFile demo() throws IOException {
    try (Reader reader =
        new InputStreamReader(
            Objects.requireNonNull(WorldFileTest.class.getResourceAsStream("/world/demo.yaml")),
            StandardCharsets.UTF_8)) {
      return WorldFile.read("demo", reader);
    }
  }

  static WorldFile read(String yaml) throws IOException {
    return WorldFile.read("w", new StringReader(yaml));
  }

  @Test
  void theDemoWorldIsAsTheDocumentationSays() throws IOException {
    WorldFile world = demo();

    WorldFile.PoolSeed site = world.sites().get(0);
    assertEquals("demo-h100", site.pool().name());
    assertEquals(8, site.pool().gpusPerNode());
    assertEquals(16, site.simulatedNodes());
    assertEquals(100, site.pool().reserveCents());
    assertEquals(1_000, site.pool().capCents());
    assertNull(site.pool().noticeMillis());
    assertEquals(
        List.of("acme", "globex", "openlab"),
        world.tenants().stream().map(t -> t.org().orgId()).toList());
    WorldFile.OrgSeed acme = world.tenants().get(0);
    assertEquals(
        List.of("acme-train", "acme-batch", "acme-legacy", "acme-k8s"),
        acme.clusters().stream().map(WorldFile.ClusterSeed::name).toList());
    assertEquals(Cluster.Posture.STATIC, acme.clusters().get(2).posture());
    assertEquals(2, acme.clusters().get(2).heldNodes());
    for (WorldFile.OrgSeed tenant : world.tenants()) {
      assertEquals(
          List.of("orgwide", "bound", "readonly", "bare"),
          tenant.tokens().stream().map(WorldFile.TokenSeed::name).toList());
      assertEquals(Scope.grantableToTokens(), tenant.tokens().get(0).scopes());
      assertEquals(tenant.clusters().get(0).name(), tenant.tokens().get(1).cluster());
      assertEquals(Set.of(Scope.CAPACITY_READ), tenant.tokens().get(2).scopes());
      assertEquals(Set.of(), tenant.tokens().get(3).scopes());
    }
    assertEquals("public_research", world.tenants().get(2).org().kind());
  }

  @Test
  void everyFaultIsNamedInOneGo() {
    String message =
        faults(
            """
            colour: red
            pools:
              - {name: P!, site: s, provider: cloud, gpu_vendor: v, ssh_user: u, gpus_per_node: 0,
                 reserve_price_per_gpu_hour: 1.001, max_price_cap_per_gpu_hour: -1, nodes: 7,
                 notice_ms: 3600001}
              - {name: dear, site: s, provider: simulated, gpu_vendor: v, ssh_user: u,
                 reserve_price_per_gpu_hour: 9, max_price_cap_per_gpu_hour: 8, simulated_nodes: 1}
            orgs:
              - id: acme
                kind: charity
                clusters:
                  - {name: c1, pool: nowhere, kind: mainframe, posture: lazy}
                  - {name: c2, pool: dear, held_nodes: 2}
                tokens:
                  - {name: t, scopes: ["capacity:own"], cluster: c9, max_gpus: many, max_lease: 8h}
            """);
    for (String fault :
        List.of(
            "no such key: colour",
            "'P!'",
            "provider: expected simulated or ssh",
            "gpus_per_node: '0'",
            "reserve_price_per_gpu_hour: '1.001'",
            "max_price_cap_per_gpu_hour: '-1'",
            "nodes: expected a list",
            "notice_ms: '3600001': expected a whole number from 0 to 3600000",
            "pool dear: the reserve price is above the cap",
            "kind: 'charity': expected standard or public_research",
            "display is missing",
            "no such pool: nowhere",
            "kind: 'mainframe': expected one of [vm, k8s]",
            "posture: 'lazy': expected one of [market, static]",
            "cluster c2: held_nodes needs posture static",
            "pool dear: its clusters hold more nodes than it has",
            "no such scope: capacity:own",
            "max_gpus: many is not acceptable",
            "token t: no such cluster: c9")) {
      assertTrue(message.contains(fault), fault + " in:\n" + message);
    }
  }

  @Test
  void aMachineHasAnIpAddressAndAReadableHostKey() {
    String message =
        faults(
            """
            pools:
              - name: p
                site: s
                provider: ssh
                gpu_vendor: v
                ssh_user: u
                nodes:
                  - {id: n1, public_ip: node.example, host_key: nonsense}
                  - {id: n2, public_ip: 203.0.113.12, host_key: ssh-ed25519
                      AAAAC3NzaC1lZDI1NTE5AAAAIGr5ynmS8PxYzaoVYPqJTYJ1oKq7JYPYc4sm0Y1s2ek3}
            """);
    assertTrue(message.contains("nodes[0]: public_ip: 'node.example'"), message);
    assertTrue(message.contains("nodes[0]: host_key: expected"), message);
    assertFalse(message.contains("nodes[1]"), message);
  }

  @Test
  void whatMustBeUniqueIsListedOnce() {
    String message =
        faults(
            """
            pools:
              - &p {name: p, site: s, provider: simulated, gpu_vendor: v, ssh_user: u, simulated_nodes: 1}
              - *p
            orgs:
              - {id: a, display: A, clusters: [{name: c, pool: p}], tokens: [{name: t}, {name: t}]}
              - {id: b, display: B, clusters: [{name: c, pool: p}]}
              - {id: b, display: B}
            """);
    for (String fault :
        List.of("pool p: twice", "cluster c: twice", "org b: twice", "token of org a t: twice")) {
      assertTrue(message.contains(fault), fault + " in:\n" + message);
    }
  }

  @Test
  void textThatIsNoYamlIsNamedWithItsPlace() {
    assertTrue(faults("pools: [").startsWith("w: "));
    assertTrue(faults("pools: []\npools: []").contains("duplicate key"));
    assertTrue(faults("- a").contains("expected a mapping"));
    assertTrue(faults("pools: !!java.io.File [x]").startsWith("w: "));
  }

  @Test
  void simulatedMachinesAreNoMoreThanTheirAddresses() {
    String pool =
        "  - {name: %s, site: s, provider: simulated, gpu_vendor: v, ssh_user: u, simulated_nodes:"
            + " %d}\n";

    String message =
        faults("pools:\n" + pool.formatted("a", 100_000) + pool.formatted("b", 40_000));

    assertTrue(message.contains("140000 in all pools"), message);
  }

  @Test
  void aWorldOfTensOfThousandsOfClustersIsRead() throws IOException {
    StringBuilder yaml =
        new StringBuilder(
            """
            pools:
              - {name: p, site: s, provider: simulated, gpu_vendor: v, ssh_user: u, simulated_nodes: 1}
            orgs:
              - id: a
                display: A
                clusters:
            """);
    // The comments make the file as long as one with five times as many clusters.
    String comment = "x".repeat(300);
    for (int i = 0; i < 10_000; i++) {
      yaml.append("      - {name: c")
          .append(i)
          .append(", pool: p} # ")
          .append(comment)
          .append('\n');
    }

    assertTrue(yaml.length() > 3 * 1024 * 1024, "shorter than the parser takes by itself");
    assertEquals(10_000, read(yaml.toString()).tenants().get(0).clusters().size());
  }

  @Test
  void aFileThatIsTooLongIsNamedWithItsLimit() {
    String yaml = "pools: [" + "a, ".repeat(1_000) + "]";

    IOException refused =
        assertThrows(
            IOException.class,
            () -> Yaml.read("w", new StringReader(yaml), new ArrayList<>(), 2_000));

    String message = String.valueOf(refused.getMessage());
    assertTrue(message.startsWith("w: ") && message.contains("2000"), message);
  }

  private static String faults(String yaml) {
    IOException refused = assertThrows(IOException.class, () -> read(yaml));
    return String.valueOf(refused.getMessage());
  }
}
