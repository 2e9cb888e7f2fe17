package dev.bourse.simulation;

import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.audit.TrailQuery;
import dev.bourse.billing.Ledger;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Operators' changes of money and clients' reads, with their answers. */
final class Bookings {
  /** Money that an operator books; requested once or more, with one key. */
  static final class Booking {
    final String organization;
    final Ledger.Kind kind;
    final String key;
    final long micros;
    int acknowledged;

    Booking(String organization, Ledger.Kind kind, String key, long micros) {
      this.organization = organization;
      this.kind = kind;
      this.key = key;
      this.micros = micros;
    }
  }

  /** A limit that an operator sets; its amount is unique, which identifies its row. */
  static final class Limit {
    final String organization;
    final long micros;
    final long askedAtMillis;
    boolean isAcknowledged;

    Limit(String organization, long micros, long askedAtMillis) {
      this.organization = organization;
      this.micros = micros;
      this.askedAtMillis = askedAtMillis;
    }
  }

  /** An audited read that was answered; its actor is unique, which identifies its row. */
  record Read(String actor, String cluster, Replica process, long atMillis) {}

  private final World world;
  private final List<Booking> bookings = new ArrayList<>();
  private final List<Limit> limits = new ArrayList<>();
  private final List<Read> reads = new ArrayList<>();
  private final Map<String, Long> shown = new HashMap<>();
  private int asked;

  Bookings(World world) {
    this.world = world;
  }

  List<Booking> bookings() {
    return bookings;
  }

  List<Limit> limits() {
    return limits;
  }

  List<Read> reads() {
    return reads;
  }

  /** Returns when an organization's limit was last requested; null if never. */
  @Nullable Long limitAskedAtMillis(String organization) {
    Long last = null;
    for (Limit limit : limits) {
      if (limit.organization.equals(organization)) {
        last = limit.askedAtMillis;
      }
    }
    return last;
  }

  /** Books money, or repeats an earlier request. */
  void book(Replica process, String organization, SplittableRandom random) {
    Booking booking;
    List<String> held =
        world
            .server
            .engine()
            .query(
                "SELECT org_id FROM billing_org WHERE hold_stage <> 'NONE' ORDER BY org_id",
                List.of(),
                row -> row.text("org_id"));
    if (!held.isEmpty() && random.nextBoolean()) {
      // An organization on hold pays its shortfall.
      booking =
          new Booking(
              held.get(random.nextInt(held.size())),
              Ledger.Kind.PAYMENT,
              "sim-" + ++asked + "-",
              2_000_000_000L);
      bookings.add(booking);
    } else if (!bookings.isEmpty() && random.nextInt(3) == 0) {
      booking = bookings.get(random.nextInt(bookings.size()));
    } else {
      booking = drawn(organization, random);
      bookings.add(booking);
    }
    world.clients.call(
        process,
        "books " + booking.micros + " as " + booking.key + " of " + booking.organization,
        core ->
            core.billingAdmin()
                .book(
                    "operator:sim",
                    booking.kind,
                    booking.organization,
                    booking.key,
                    booking.micros,
                    "")
                .onSuccess(booked -> booking.acknowledged++));
  }

  private Booking drawn(String organization, SplittableRandom random) {
    String key = "sim-" + ++asked + "-";
    return switch (random.nextInt(3)) {
      case 0 ->
          new Booking(organization, Ledger.Kind.CREDIT, key, 10_000 * random.nextLong(1, 20_000));
      case 1 ->
          new Booking(organization, Ledger.Kind.PAYMENT, key, 10_000 * random.nextLong(1, 200_000));
      // About the initial credit of an organization, so that some run out.
      default ->
          new Booking(
              organization,
              Ledger.Kind.ADJUSTMENT,
              key,
              -10_000 * random.nextLong(80_000, 110_000));
    };
  }

  /** Sets a limit, or deletes it. */
  void limit(Replica process, String organization, SplittableRandom random) {
    if (random.nextInt(4) == 0) {
      limits.add(new Limit(organization, -1, world.nowMillis()));
      world.clients.call(
          process,
          "takes the limit of " + organization + " away",
          core -> core.billingAdmin().limit("operator:sim", organization, null));
      return;
    }
    long micros = random.nextLong(random.nextBoolean() ? 40_000 : 400_000) * 1_000 + ++asked;
    Limit limit = new Limit(organization, micros, world.nowMillis());
    limits.add(limit);
    world.clients.call(
        process,
        "limits " + organization + " to " + micros,
        core ->
            core.billingAdmin()
                .limit("operator:sim", organization, micros)
                .onSuccess(view -> limit.isAcknowledged = true));
  }

  /** Returns the newest row of an organization's trail that was shown; 0 for none. */
  long shownThrough(String organization) {
    return shown.getOrDefault(organization, 0L);
  }

  /** Reads the newest page of an organization's trail. */
  void readTrail(Replica process, String organization) {
    world.clients.call(
        process,
        "reads the trail of " + organization,
        core ->
            core.trails()
                .listEntries(
                    organization,
                    Optional.empty(),
                    new TrailQuery(true, OptionalInt.of(1), Long.MAX_VALUE))
                .onSuccess(
                    page ->
                        page.items()
                            .forEach(entry -> shown.merge(organization, entry.id(), Math::max))));
  }

  /** Reads a cluster's capacity, which must be recorded. */
  void read(Replica process, String cluster) {
    String organization = cluster.substring(0, cluster.indexOf('-'));
    String actor = "token:reader" + ++asked;
    Principal reader =
        new Principal(
            new Organization(organization, organization, "standard"),
            actor,
            actor,
            EnumSet.allOf(Scope.class),
            null,
            null);
    world.clients.call(
        process,
        "reads " + cluster,
        core -> {
          core.capacity().readCapacity(reader, Optional.of(cluster));
          reads.add(new Read(actor, cluster, process, world.nowMillis()));
          return Future.succeededFuture();
        });
  }
}
