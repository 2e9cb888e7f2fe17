package dev.bourse.app;

import dev.bourse.edge.EdgeMetrics;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.random.RandomGenerator;

/**
 * What every part of one service stands on.
 *
 * @param demo whether the demo world is served
 * @param clock the time
 * @param random a cryptographic source
 * @param stops where whatever starts says how it ends
 * @param metrics where parts register what they count
 */
record Ground(
    Vertx vertx,
    Config config,
    boolean demo,
    Clock clock,
    RandomGenerator random,
    Stops stops,
    EdgeMetrics metrics) {}
