package dev.bourse.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The size of a world.
 *
 * @param replicas processes on the one database
 */
record Scale(int replicas, int organizations, int clustersPerOrganization, int nodes) {
  /** Returns a small one: most protocol errors need few participants. */
  static Scale small(SplittableRandom random) {
    return new Scale(
        random.nextInt(1, 4), random.nextInt(1, 4), random.nextInt(1, 4), random.nextInt(2, 9));
  }

  List<String> organizationIds() {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < organizations; i++) {
      ids.add("org" + i);
    }
    return ids;
  }

  /**
   * Returns the clusters of all organizations; an organization's id is the part before the dash.
   */
  List<String> clusters() {
    List<String> names = new ArrayList<>();
    for (String organization : organizationIds()) {
      for (int i = 0; i < clustersPerOrganization; i++) {
        names.add(organization + "-c" + i);
      }
    }
    return names;
  }

  /** Returns true if a text is the name of one of the clusters. */
  boolean isCluster(String text) {
    return text.startsWith("org") && text.indexOf("-c") > 0 && text.indexOf(' ') < 0;
  }

  /**
   * Returns the world file.
   *
   * @param hasRootTenants whether machines get a new image after each tenant
   */
  String worldFile(boolean hasRootTenants) {
    StringBuilder yaml =
        new StringBuilder(
            """
            pools:
              - name: %s
                site: sim
                provider: simulated
                gpu_vendor: NVIDIA
                gpu_model: H100
                gpus_per_node: %d
                reserve_price_per_gpu_hour: 1.00
                max_price_cap_per_gpu_hour: 10.00
                ssh_user: tenant
                ssh_port: 22
                tenants: %s
                simulated_nodes: %d
            orgs:
            """
                .formatted(
                    World.POOL, World.GPUS_PER_NODE, hasRootTenants ? "root" : "login", nodes));
    for (String organization : organizationIds()) {
      yaml.append(
          """
            - id: %s
              display: %s
              kind: standard
              credit: 1000
              members: [{username: ada, email: ada@example.com, name: Ada}]
              clusters:
          """
              .formatted(organization, organization));
      for (String cluster : clusters()) {
        if (cluster.startsWith(organization + "-")) {
          yaml.append("      - {name: ").append(cluster).append(", pool: h100}\n");
        }
      }
    }
    return yaml.toString();
  }
}
