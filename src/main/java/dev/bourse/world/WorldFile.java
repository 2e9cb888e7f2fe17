package dev.bourse.world;

import dev.bourse.access.Organization;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.core.ApiException;
import dev.bourse.core.IpAddress;
import dev.bourse.core.Price;
import dev.bourse.core.Text;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.SimulatedNodes;
import dev.bourse.pools.Pool;
import dev.bourse.sshkeys.SshPublicKey;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.Reader;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Pools, nodes and organizations of a world file. A file only seeds the store: existing rows stay
 * unchanged.
 */
public record WorldFile(List<PoolSeed> sites, List<OrgSeed> tenants) {
  private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?");
  private static final int MAX_SIMULATED = 100_000;
  private static final long MAX_CENTS = 100_000_000;

  /** A pool with its listed nodes and a number of simulated ones. */
  public record PoolSeed(Pool pool, List<Machine> machines, int simulatedNodes) {}

  /**
   * An organization with its clusters, members and tokens.
   *
   * @param creditCents initial credit
   */
  public record OrgSeed(
      Organization org,
      long creditCents,
      List<ClusterSeed> clusters,
      List<MemberSeed> members,
      List<TokenSeed> tokens) {}

  /**
   * A cluster.
   *
   * @param heldNodes nodes it holds from the start, 0 unless its posture is static
   * @param ceilingCents the most it pays per GPU-hour
   */
  public record ClusterSeed(
      String name,
      String pool,
      Cluster.Kind kind,
      Cluster.Posture posture,
      int heldNodes,
      long ceilingCents) {}

  /** A member of an organization. */
  public record MemberSeed(String username, String email, String name) {}

  /** A token to mint. */
  public record TokenSeed(
      String name, Set<Scope> scopes, @Nullable String cluster, TokenLimits limits) {}

  /**
   * Reads a world file.
   *
   * @throws IOException listing every fault of the file
   */
  public static WorldFile read(String name, Reader reader) throws IOException {
    List<String> faults = new ArrayList<>();
    Yaml yaml = Yaml.read(name, reader, faults);
    WorldFile world =
        new WorldFile(yaml.list("pools", WorldFile::site), yaml.list("orgs", WorldFile::tenant));
    yaml.reportUnknownKeys();
    world.check(faults);
    if (!faults.isEmpty()) {
      throw new IOException(String.join("\n", faults));
    }
    return world;
  }

  private static PoolSeed site(Yaml yaml) {
    String pool = yaml.parsed("name", "unnamed", WorldFile::name);
    int sshPort = yaml.integer("ssh_port", 22, 1, 65_535);
    Pool.Environment environment =
        new Pool.Environment(
            yaml.text("ssh_user"), sshPort, yaml.textMap("env"), yaml.textMap("storage"));
    return new PoolSeed(
        new Pool(
            pool,
            yaml.text("site"),
            yaml.text("provider"),
            new Pool.Hardware(
                yaml.text("gpu_vendor"),
                yaml.textOrNull("gpu_model"),
                yaml.integer("gpus_per_node", 8, 1, 1024)),
            new Pool.Bounds(
                yaml.parsed("reserve_price_per_gpu_hour", "0", WorldFile::cents),
                yaml.parsed("max_price_cap_per_gpu_hour", "100", WorldFile::cents)),
            new Pool.Rules(
                yaml.flag("detector_armed", true),
                yaml.flag("swaps_enabled", true),
                yaml.flag("self_service", false),
                yaml.parsed("tenants", "login", Pool.Tenants::of),
                notice(yaml)),
            null,
            environment),
        yaml.list("nodes", node -> machine(node, sshPort)),
        yaml.integer("simulated_nodes", 0, 0, MAX_SIMULATED));
  }

  /** Reads a pool's preemption notice; null if the file has none. */
  private static @Nullable Long notice(Yaml yaml) {
    return yaml.parsed("notice_ms", "", WorldFile::noticeMillis).orElse(null);
  }

  private static Optional<Long> noticeMillis(String text) {
    if (text.isEmpty()) {
      return Optional.empty();
    }
    long millis = Long.parseLong(text);
    if (millis < 0 || millis > Allocation.Notice.LONGEST_MILLIS) {
      throw new IllegalArgumentException(
          "expected a whole number from 0 to " + Allocation.Notice.LONGEST_MILLIS);
    }
    return Optional.of(millis);
  }

  private static Machine machine(Yaml yaml, int sshPort) {
    Machine machine =
        new Machine(
            yaml.parsed("id", "unnamed", WorldFile::name),
            canonical(yaml.text("public_ip")),
            yaml.integer("ssh_port", sshPort, 1, 65_535),
            yaml.text("host_key"));
    if (!machine.publicIp().isEmpty() && IpAddress.canonical(machine.publicIp()).isEmpty()) {
      yaml.fault("public_ip: '" + Text.shown(machine.publicIp()) + "': expected an IP address");
    }
    requireHostKey(yaml, machine);
    return machine;
  }

  /** Normalizes an address, so that no node is in the inventory twice. */
  private static String canonical(String address) {
    return IpAddress.canonical(address).orElse(address);
  }

  private static void requireHostKey(Yaml yaml, Machine machine) {
    String key = machine.hostKey();
    if (key == null || key.isEmpty()) {
      return;
    }
    try {
      SshPublicKey.parse(key);
    } catch (ApiException refused) {
      yaml.fault(
          "host_key: expected 'type base64' as ssh-keyscan prints it, without the address; %s"
              .formatted(refused.detail()));
    }
  }

  private static OrgSeed tenant(Yaml yaml) {
    return new OrgSeed(
        new Organization(
            yaml.parsed("id", "unnamed", WorldFile::name),
            yaml.text("display"),
            yaml.parsed("kind", "standard", WorldFile::orgKind)),
        yaml.parsed("credit", "0", WorldFile::cents),
        yaml.list("clusters", WorldFile::holder),
        yaml.list(
            "members", m -> new MemberSeed(m.text("username"), m.text("email"), m.text("name"))),
        yaml.list("tokens", WorldFile::grant));
  }

  private static ClusterSeed holder(Yaml yaml) {
    return new ClusterSeed(
        yaml.parsed("name", "unnamed", WorldFile::name),
        yaml.text("pool"),
        yaml.parsed("kind", "vm", text -> oneOf(Cluster.Kind.values(), text)),
        yaml.parsed("posture", "market", text -> oneOf(Cluster.Posture.values(), text)),
        yaml.integer("held_nodes", 0, 0, MAX_SIMULATED),
        yaml.parsed("max_price_per_gpu_hour", "0", WorldFile::cents));
  }

  private static TokenSeed grant(Yaml yaml) {
    Set<Scope> scopes = EnumSet.noneOf(Scope.class);
    for (String label : yaml.texts("scopes")) {
      Scope.find(label)
          .filter(Scope.grantableToTokens()::contains)
          .ifPresentOrElse(scopes::add, () -> yaml.fault("no such scope: " + label));
    }
    return new TokenSeed(yaml.text("name"), scopes, yaml.textOrNull("cluster"), limits(yaml));
  }

  private static TokenLimits limits(Yaml yaml) {
    JsonObject written = new JsonObject();
    TokenLimits.FIELDS.forEach(field -> written.put(field, yaml.textOrNull(field)));
    try {
      return TokenLimits.of(written);
    } catch (ApiException refused) {
      yaml.fault(refused.detail());
      return TokenLimits.NONE;
    }
  }

  private static String name(String text) {
    if (!NAME.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "expected up to 63 of a-z, 0-9, '.' and '-', with a letter or digit at either end");
    }
    return text;
  }

  private static <E extends Enum<E>> E oneOf(E[] values, String text) {
    for (E value : values) {
      if (value.name().toLowerCase(Locale.ROOT).equals(text)) {
        return value;
      }
    }
    throw new IllegalArgumentException(
        "expected one of " + Arrays.toString(values).toLowerCase(Locale.ROOT));
  }

  private static String orgKind(String text) {
    if (!text.equals("standard") && !text.equals("public_research")) {
      throw new IllegalArgumentException("expected standard or public_research");
    }
    return text;
  }

  private static long cents(String text) {
    try {
      long cents = Price.toCents(new BigDecimal(text));
      if (cents >= 0 && cents <= MAX_CENTS) {
        return cents;
      }
    } catch (ArithmeticException | NumberFormatException notDollars) {
      // Falls through to the error for numbers out of range.
    }
    throw new IllegalArgumentException("expected dollars with at most two decimals, 0 to 1000000");
  }

  private void check(List<String> faults) {
    checkAddresses(faults);
    requireUnique("pool", sites.stream().map(s -> s.pool().name()), faults);
    requireUnique(
        "node", sites.stream().flatMap(s -> s.machines().stream()).map(Machine::nodeId), faults);
    requireUnique(
        "public_ip",
        sites.stream().flatMap(s -> s.machines().stream()).map(Machine::publicIp),
        faults);
    requireUnique("org", tenants.stream().map(t -> t.org().orgId()), faults);
    requireUnique(
        "cluster",
        tenants.stream().flatMap(t -> t.clusters().stream()).map(ClusterSeed::name),
        faults);
    for (OrgSeed tenant : tenants) {
      String of = " of org " + tenant.org().orgId();
      requireUnique("token" + of, tenant.tokens().stream().map(TokenSeed::name), faults);
      requireUnique("member" + of, tenant.members().stream().map(MemberSeed::username), faults);
    }
    for (PoolSeed site : sites) {
      boolean isSimulated = site.pool().provider().equals("simulated");
      if (!isSimulated && !site.pool().provider().equals("ssh")) {
        faults.add("pool " + site.pool().name() + ": provider: expected simulated or ssh");
      }
      if (isSimulated != site.machines().isEmpty() || (!isSimulated && site.simulatedNodes() > 0)) {
        faults.add(
            "pool " + site.pool().name() + ": a simulated pool has simulated_nodes, another nodes");
      }
      int held =
          tenants.stream()
              .flatMap(tenant -> tenant.clusters().stream())
              .filter(holder -> holder.pool().equals(site.pool().name()))
              .mapToInt(ClusterSeed::heldNodes)
              .sum();
      if (held > site.machines().size() + site.simulatedNodes()) {
        faults.add("pool " + site.pool().name() + ": its clusters hold more nodes than it has");
      }
      if (site.pool().reserveCents() > site.pool().capCents()) {
        faults.add("pool " + site.pool().name() + ": the reserve price is above the cap");
      }
    }
    for (OrgSeed tenant : tenants) {
      for (ClusterSeed holder : tenant.clusters()) {
        if (sites.stream().noneMatch(s -> s.pool().name().equals(holder.pool()))) {
          faults.add("cluster " + holder.name() + ": no such pool: " + holder.pool());
        }
        if (holder.heldNodes() > 0 && holder.posture() != Cluster.Posture.STATIC) {
          faults.add("cluster " + holder.name() + ": held_nodes needs posture static");
        }
      }
      for (TokenSeed token : tenant.tokens()) {
        if (token.cluster() != null
            && tenant.clusters().stream().noneMatch(c -> c.name().equals(token.cluster()))) {
          faults.add("token " + token.name() + ": no such cluster: " + token.cluster());
        }
      }
    }
  }

  private void checkAddresses(List<String> faults) {
    int simulated = sites.stream().mapToInt(PoolSeed::simulatedNodes).sum();
    if (simulated > SimulatedNodes.ADDRESSES) {
      faults.add(
          "simulated_nodes: %d in all pools; there are addresses for %d"
              .formatted(simulated, SimulatedNodes.ADDRESSES));
    }
  }

  private static void requireUnique(String noun, Stream<String> names, List<String> faults) {
    Set<String> seen = new HashSet<>();
    names.filter(name -> !seen.add(name)).forEach(n -> faults.add(noun + " " + n + ": twice"));
  }
}
