package dev.bourse.testing;

/**
 * A market of its own: a pool of four nodes in which two organizations bid. Red has two clusters
 * and a Kubernetes cluster there, and an operator-managed one that holds two nodes of another pool
 * at half the reserve price; blue has one cluster.
 */
public record TestMarket(RunningBourse bourse, String name, String red, String blue) {
  public static final int NODES = 4;
  private static final int FIXED_NODES = 2;

  private static final String POOL =
      """
        - name: %s
          site: lab
          provider: simulated
          gpu_vendor: NVIDIA
          gpu_model: H100
          gpus_per_node: 8
          reserve_price_per_gpu_hour: 1.00
          max_price_cap_per_gpu_hour: 10.00
          ssh_user: tenant
          env: {REGION: north}
          storage: {scratch: /scratch}
          simulated_nodes: %d
      """;

  private static final String TOKENS =
      """
          tokens:
            - {name: orgwide, scopes: ["capacity:read", "capacity:write", "bid:read", "bid:write", "billing:read"]}
            - {name: bound, cluster: %s, scopes: ["capacity:read", "capacity:write"]}
            - {name: readonly, scopes: ["capacity:read"]}
            - {name: bare, scopes: []}
      """;

  private static final String ORGS =
      """
        - id: %1$s-red
          display: Red
          kind: standard
          credit: 1000000
          clusters:
            - {name: %1$s-red-a, pool: %1$s}
            - {name: %1$s-red-b, pool: %1$s}
            - {name: %1$s-red-k8s, pool: %1$s, kind: k8s}
            - {name: %1$s-red-fixed, pool: fixed, posture: static, held_nodes: %2$d, max_price_per_gpu_hour: 0.50}
      """
          + TOKENS.replace("%s", "%1$s-red-a")
          + """
            - id: %1$s-blue
              display: Blue
              kind: public_research
              credit: 1000000
              clusters:
                - {name: %1$s-blue, pool: %1$s}
          """
          + TOKENS.replace("%s", "%1$s-blue");

  public static TestMarket of(RunningBourse bourse, int number) {
    String name = "s" + number;
    return new TestMarket(bourse, name, name + "-red", name + "-blue");
  }

  /** A world file with so many markets. */
  public static String world(int markets) {
    StringBuilder pools = new StringBuilder("pools:\n");
    StringBuilder orgs = new StringBuilder("orgs:\n");
    pools.append(POOL.formatted("fixed", markets * FIXED_NODES));
    for (int i = 1; i <= markets; i++) {
      pools.append(POOL.formatted("s" + i, NODES));
      orgs.append(ORGS.formatted("s" + i, FIXED_NODES));
    }
    return pools.append(orgs).toString();
  }

  /** Red's first cluster, with a token for all of red's. */
  public ClusterClient redA() {
    return new ClusterClient(red("orgwide"), red, red + "-a");
  }

  public ClusterClient redB() {
    return new ClusterClient(red("orgwide"), red, red + "-b");
  }

  /** The operator-managed one. */
  public ClusterClient redFixed() {
    return new ClusterClient(red("orgwide"), red, red + "-fixed");
  }

  public ClusterClient blueA() {
    return new ClusterClient(blue("orgwide"), blue, blue);
  }

  public ApiClient red(String token) {
    return bourse.as(red, token);
  }

  public ApiClient blue(String token) {
    return bourse.as(blue, token);
  }
}
