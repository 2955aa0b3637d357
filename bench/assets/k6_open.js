import http from 'k6/http';
export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['p(50)', 'p(90)', 'p(99)', 'p(99.9)'],
  scenarios: { open: {
    executor: 'constant-arrival-rate', rate: Number(__ENV.RATE), timeUnit: '1s',
    duration: `${__ENV.SECONDS}s`, preAllocatedVUs: Number(__ENV.VUS),
  } },
};
export default function () { http.get(__ENV.URL); }
export function handleSummary(data) {
  return { stdout: JSON.stringify(data.metrics.http_req_duration.values) };
}
