package dev.bourse.app;

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
 */
record Ground(
    Vertx vertx, Config config, boolean demo, Clock clock, RandomGenerator random, Stops stops) {}
