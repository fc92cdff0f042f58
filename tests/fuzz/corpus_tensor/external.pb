Bej
location../xj
offset0j
length8p