package dev.bourse.simulation;

import java.math.BigDecimal;
import java.util.SplittableRandom;

/** Runs simulations. */
public final class Simulate {
  private Simulate() {}

  public static void main(String[] args) throws Exception {
    int n = Integer.parseInt(args[0]);
    for (int i = 0; i < n; i++) {
      long began = System.nanoTime();
      SplittableRandom random = new SplittableRandom(i);
      try (World world = new World(Scale.small(random), i, 100_000, Bug.NONE)) {
        world.seed();
        long seeded = System.nanoTime();
        world.slots().forEach(world::start);
        while (world.step(1_000_000_000L)) {}
        for (String org : world.scale.organizationIds()) {
          world.clients.call(
              world.ready().get(0),
              "adds a key",
              c -> c.keys().addSshKey(Clients.principal(org), org, "ada", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGzS76FGWDk2LWIsC07vR5a2E0nAgt8dm5xXc7xJiOWX ada@example.com", null));
        }
        long started = System.nanoTime();
        long steps = 0;
        for (int s = 1; s <= 600; s++) {
          if (s % 5 == 0 && !world.ready().isEmpty()) {
            world.clients.declare(
                world.ready().get(random.nextInt(world.ready().size())),
                world.scale.clusters().get(random.nextInt(world.scale.clusters().size())),
                8 * random.nextInt(3),
                BigDecimal.valueOf(100 + random.nextInt(500), 2));
          }
          while (world.step(s * 1_000_000_000L)) {
            steps++;
          }
        }
        if (args.length > 1) System.out.println(world.trace.text());
        System.out.println(
            i + " " + world.scale + " ready " + world.ready().size() + " acked " + world.clients.acknowledged().size()
                + " refused " + world.clients.refusals() + " steps " + steps + " digest " + world.trace.digest()
                + " seed " + (seeded - began) / 1000000 + " start " + (started - seeded) / 1000000
                + " run " + (System.nanoTime() - started) / 1000000 + " ms");
      }
    }
  }
}
