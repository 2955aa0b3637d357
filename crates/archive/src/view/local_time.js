// The reader's own time, before a time in UTC that differs from it.
for (const time of document.querySelectorAll('time')) {
  const at = new Date(time.dateTime);
  if (!at.getTimezoneOffset()) continue;
  const two = (number) => String(number).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  time.prepend(`${day} ${two(at.getHours())}:${two(at.getMinutes())} here`, document.createElement('br'));
}
